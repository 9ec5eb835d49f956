"""Forms: the formats of texts, by the names that the structs use.

Each raises ValueError with a sentence for the author.
"""

import difflib
import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache

from interlock.domain import duration, job_forms, pipeline, timestamp, zones
from interlock.domain.alerting import alert_rules as alerts
from interlock.domain.alerting import sink_kinds
from interlock.domain.alerting.routes import names_type
from interlock.domain.event import EventType
from interlock.domain.partition import Label
from interlock.domain.schedule import check_cron
from interlock.files.problem import printable, quoted

Form = Callable[[str], object]

#: A sort key of the control table has 1,024 bytes, and a period follows the key.
_LONGEST_KEY = 512
_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_COUNTRY = r"[A-Z]{2}(-[A-Za-z0-9]{1,20})?"


def form_check(form: str, pattern: str | None, allowed: str | None) -> Form:
    """Raises ValueError, with a sentence for the author, unless a text has this form: that of the name, or
    the pattern that the struct gives with it.
    """
    if pattern is not None and allowed is not None:
        return _matching(pattern, allowed)

    def check(text: str) -> None:
        _cached(form, text) if len(text) <= 64 else FORMS[form](text)

    return check


def hint_for(form: str, text: str) -> str:
    """What to write instead, where that can be guessed."""
    if form == "sensor key" and text.startswith("SENSOR#"):
        return f"write {printable(text.removeprefix('SENSOR#'))}"
    if form == "event glob":
        near = difflib.get_close_matches(text[:40].upper(), [*EventType], n=1)
        return f"did you mean {near[0]}?" if near else ""
    if form == "time zone":
        near = difflib.get_close_matches(text[:40], zones.known_zones(), n=1, cutoff=0.8)
        return f"did you mean {near[0]}?" if near else ""
    return ""


@lru_cache(maxsize=8192)
def _cached(form: str, text: str) -> None:
    FORMS[form](text)


def _matching(pattern: str, allowed: str) -> Form:
    whole = re.compile(pattern)

    def check(text: str) -> None:
        if whole.fullmatch(text) is None:
            raise ValueError(f"{quoted(text)} is not {allowed}")

    return check


def _sensor_key(text: str) -> None:
    if text.startswith("SENSOR#"):
        raise ValueError("write a key without SENSOR#")
    _one_line(text)
    if len(text.encode()) > _LONGEST_KEY:
        raise ValueError(f"a key has at most {_LONGEST_KEY} bytes")


def _date(text: str) -> None:
    _matching(pipeline.DAY, "a date, YYYY-MM-DD")(text)
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a day of the calendar") from None


def _one_line(text: str) -> None:
    if not text.strip():
        raise ValueError("the text is empty")
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError("the text holds a line break or another control character")


def _glue_job(text: str) -> None:
    _one_line(text)
    if len(text) > 255:
        raise ValueError("the name of a Glue job has at most 255 characters")


def _no_nul(text: str) -> None:
    if "\0" in text:
        raise ValueError("a variable can't contain a NUL character")


def _variable_value(text: str) -> None:
    _no_nul(text)
    job_forms.check_secrets(text)


def _instant(text: str) -> None:
    if timestamp.instant(text) is None:
        raise ValueError(f"{quoted(text)} is not an instant such as 2026-03-03T08:00:00Z")


def _event_glob(text: str) -> None:
    if not any(names_type(text, kind) for kind in EventType):
        raise ValueError(f"unknown event type {quoted(text)}")


def _when(text: str) -> None:
    duration.seconds(text) if text.startswith("+") else _instant(text)


FORMS: dict[str, Form] = {
    "pipeline id": _matching(
        pipeline.PIPELINE_ID,
        "an id: 1 to 63 of a-z 0-9 . _ - that begin with a letter or digit",
    ),
    "schedule id": _matching(pipeline.SCHEDULE_ID, "an id: 1 to 24 of a-z 0-9 -"),
    "sensor key": _sensor_key,
    "field": _one_line,
    "duration": duration.seconds,
    "clock time": _matching(pipeline.CLOCK, "a time, HH:MM with two digits each"),
    "deadline": _matching(
        f"{pipeline.CLOCK}|{pipeline.MINUTE}", "a deadline, HH:MM or :MM with two digits each"
    ),
    "date": _date,
    "time zone": zones.zone,
    "cron": check_cron,
    "instant": _instant,
    "sink name": _matching(alerts.SINK_NAME, "the name of a sink: 1 to 32 of a-z 0-9 -"),
    "channel id": _matching(
        sink_kinds.CHANNEL_ID, "the id of a channel such as C0123456789, which its details show"
    ),
    "event glob": _event_glob,
    "end of window": _matching(
        f"{pipeline.CLOCK}|24:00", "a time, HH:MM with two digits each, or 24:00"
    ),
    "when": _when,
    "label": Label.parse,
    "calendar": _one_line,
    "country": _matching(_COUNTRY, "a country code such as US or DE-BY"),
    "name": _one_line,
    "argument": _no_nul,
    "path": _one_line,
    "URL": job_forms.check_url,
    "https URL": job_forms.check_https_url,
    "header name": _matching(_HEADER_NAME, "the name of a header"),
    "header value": job_forms.check_header_value,
    "secret text": job_forms.check_secrets,
    "variable": _matching(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable"),
    "variable value": _variable_value,
    "glue job": _glue_job,
    "glue argument": _matching(r"(?s)--.+", "an argument of Glue: it begins with --"),
}

#: The name of a form in the message when the value is not text.
DUE: dict[str, str] = {
    "duration": "a duration such as 90s",
    "clock time": "a time such as 08:00",
    "deadline": "a time such as 08:00",
    "date": "a date",
}
