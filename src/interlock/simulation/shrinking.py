"""Shrinking: the smallest document that still breaks what a large one broke."""

import copy
from collections.abc import Callable, Iterator

from interlock.simulation.random_edits import Document

Breaks = Callable[[Document], bool]


def shrunk(document: Document, breaks: Breaks) -> Document:
    """Remove things, one after another, as long as it still breaks."""
    again = True
    while again:
        again = False
        for smaller in _smaller(document):
            if breaks(smaller):
                document, again = smaller, True
                break
    return document


def _smaller(document: Document) -> Iterator[Document]:
    """Documents with one thing less, the biggest things first."""
    for position in range(len(document["pipelines"])):
        if len(document["pipelines"]) > 1:
            yield _without_pipeline(document, position)
    for position in range(len(document["timeline"])):
        less = copy.deepcopy(document)
        del less["timeline"][position]
        yield less
    for position, pipeline in enumerate(document["pipelines"]):
        for part in ("sla", "postRun", "dryRun"):
            if part in pipeline:
                less = copy.deepcopy(document)
                del less["pipelines"][position][part]
                yield less
    for name, scripts in document["jobs"].items():
        if len(scripts) > 1:
            less = copy.deepcopy(document)
            less["jobs"][name] = scripts[:-1]
            yield less


def _without_pipeline(document: Document, position: int) -> Document:
    less = copy.deepcopy(document)
    gone = less["pipelines"].pop(position)["pipeline"]["id"]
    less["jobs"].pop(gone, None)
    less["timeline"] = [entry for entry in less["timeline"] if not _names(entry, gone)]
    return less


def _names(entry: Document, pipeline: str) -> bool:
    for what in entry.values():
        if what == pipeline:
            return True
        if isinstance(what, dict):
            inner = what.get("pipeline")
            name = inner.get("id") if isinstance(inner, dict) else inner
            if pipeline in (name, what.get("remove"), what.get("restore")):
                return True
    return False
