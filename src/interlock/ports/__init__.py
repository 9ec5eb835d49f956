"""Ports: what the use cases need from the world, in the domain's words.

Every write that follows a decision is conditional on what the decision was based on, and returns whether it
won: a lost race is a normal answer. Only a broken store raises (TransientError, UnavailableError). Every call
may be repeated with the same arguments.

An unreadable row fails no call: a list leaves it out, and where its place matters a stand-in is returned
(a run with the status UNREADABLE, an UnreadableReading). Each such row is kept for `UnreadableRows`.
"""
