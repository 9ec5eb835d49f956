"""Cascade circles: which pipelines wait for each other in a circle."""

#: By id, the ids that each pipeline waits for.
Waits = dict[str, set[str]]


def knotted(waits: Waits) -> Waits:
    """What remains after repeatedly removing the pipelines that wait for none."""
    left = {name: ups & waits.keys() for name, ups in waits.items()}
    waiting: dict[str, list[str]] = {}
    for name, ups in left.items():
        for up in ups:
            waiting.setdefault(up, []).append(name)
    free = [name for name, ups in left.items() if not ups]
    while free:
        done = free.pop()
        del left[done]
        for name in waiting.get(done, ()):
            left[name].discard(done)
            if not left[name]:
                free.append(name)
    return left


def reach(start: str, waits: Waits) -> set[str]:
    """Everything that a pipeline waits for, directly or not."""
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        new = waits.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached
