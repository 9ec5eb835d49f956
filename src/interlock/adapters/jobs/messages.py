"""Messages: what a platform or a job said, made fit to be stored and shown."""

from interlock.domain.event import clean

LONGEST_MESSAGE = 512


def shown(text: str) -> str:
    """One line of at most 512 bytes, without anything that moves a cursor or turns text around.

    Mask secrets first: masking can't recognise one that was cut.
    """
    plain = clean(text.encode(errors="replace").decode(), limit=LONGEST_MESSAGE)
    raw = plain.encode()
    return plain if len(raw) <= LONGEST_MESSAGE else raw[:LONGEST_MESSAGE].decode(errors="ignore")
