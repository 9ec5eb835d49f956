"""Ports: what the use cases need from the world, in the domain's words.

Every write that follows a decision is conditional on what was decided from and answers whether it won:
"somebody got there first" is a normal answer. Only a broken store raises (TransientError,
UnavailableError). Every call may be made again with the same arguments.

A row that can't be read breaks no call: a list leaves it out, and what it stands for is answered apart
(a run with the status UNREADABLE, an UnreadableReading). Each such row is kept for `UnreadableRows`.
"""
