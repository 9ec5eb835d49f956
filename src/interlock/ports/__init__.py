"""Ports: what the use cases need from the world, in the domain's words.

Every write that follows a decision is conditional on what the decision was based on, and returns whether it
won: "another writer got there first" is a normal result. Only a broken store raises (TransientError,
UnavailableError). Every call may be repeated with the same arguments.

An unreadable row breaks no call: a list leaves it out, and what it stands for is returned separately (a run
with the status UNREADABLE, an UnreadableReading). Each such row is kept for `UnreadableRows`.
"""
