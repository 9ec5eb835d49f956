"""Prepared types: what msgspec must know of a struct to read it, built before several threads read it.

It is built at the first use, and a second thread that meets it half built crashes the interpreter.
"""

import threading
from collections.abc import Iterator
from contextlib import suppress

import msgspec

_prepared: set[type] = set()
_preparing = threading.Lock()


def prepare_types() -> None:
    """Of every struct of ours that is imported by now. To be called before the first thread that reads any
    of them begins; a further call sees to those that came since.
    """
    with _preparing:
        for kind in structs():
            if kind not in _prepared:
                with suppress(
                    TypeError, NameError
                ):  # it can't be read at all, so no thread reads it
                    msgspec.json.Decoder(kind)
                _prepared.add(kind)


def is_prepared(kind: type) -> bool:
    return kind in _prepared


def structs(above: type = msgspec.Struct) -> Iterator[type]:
    """Ours, as far as they are imported."""
    kind: type
    for kind in above.__subclasses__():
        if kind.__module__.partition(".")[0] == "interlock":
            yield kind
        yield from structs(kind)
