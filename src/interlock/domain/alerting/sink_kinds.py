"""Sink kinds: one row for each type of alert sink. The alerts file, the senders and the reference read it.

The adapter is named, not imported: validating a file needs no client of any sink.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from interlock.domain import job_forms
from interlock.domain.alerting.manner import Manner
from interlock.domain.objection import Objection, ProblemKind, known
from interlock.domain.pipeline import Declared, text_form

CHANNEL_ID = r"[A-Z][A-Z0-9]{2,31}"
SIGNING_SECRET = "whsec_"  # noqa: S105 - how one begins

Channel = Annotated[
    str, text_form("channel id", "The id of a channel, such as `C0123456789`.", CHANNEL_ID)
]

SINK_KINDS: dict[str, "SinkKind"] = {}


class SinkConfig(Declared, frozen=True):
    """One way to people."""

    #: Which struct a file's sink is read along; `noun` is what messages call it.
    variants: ClassVar[Mapping[str, "SinkKind"]] = SINK_KINDS
    noun: ClassVar[str] = "sink"

    type: Annotated[str, Meta(description="What it is.", extra={"one of": SINK_KINDS})]
    channel: Annotated[
        Channel | None, Meta(description="where alerts go unless a route says otherwise.")
    ] = None

    @property
    def kind(self) -> "SinkKind":
        return SINK_KINDS[self.type]

    @property
    def lacks_channel(self) -> bool:
        """Whether a route must name the channel."""
        return self.kind.has_channels and self.channel is None

    def objections(self) -> Iterator[Objection]:
        if self.channel is not None and not self.kind.has_channels:
            message = f"a sink of type {self.type} has no channel"
            yield Objection(("channel",), ProblemKind.CONFLICT, message)
        for field in msgspec.structs.fields(self):
            text = getattr(self, field.name)
            own = job_forms.own_setting_in(text) if isinstance(text, str) else None
            if own is not None:
                message = f"{own} is a setting of Interlock itself, not for files"
                yield Objection((field.encode_name,), ProblemKind.BAD_VALUE, message)


class SlackConfig(SinkConfig, frozen=True):
    """Messages of a bot, one thread for each date of a pipeline."""


class WebhookConfig(SinkConfig, frozen=True, kw_only=True):
    """A signed request for each alert."""

    url: Annotated[
        str, text_form("URL", "where each alert is sent; `${INTERLOCK_...}` is replaced.")
    ]
    secret: Annotated[
        str,
        text_form(
            "secret text",
            "the signing secret, `whsec_...`; several, with spaces between them, while "
            "one is replaced. `${INTERLOCK_...}` and `secret://` are replaced.",
        ),
    ]

    def objections(self) -> Iterator[Objection]:
        yield from super().objections()
        hint = "use ${INTERLOCK_...} or secret://... to keep the secret out of the file"
        place = ("secret",)
        if not known(self.secret):
            return
        if SIGNING_SECRET in self.secret:
            message = "a secret stands in the file"
            yield Objection(place, ProblemKind.BAD_VALUE, message, hint, is_warning=True)
        elif "${" not in self.secret and "secret://" not in self.secret:
            message = f"a signing secret begins with {SIGNING_SECRET}"
            yield Objection(place, ProblemKind.BAD_VALUE, message, hint)


class ConsoleConfig(SinkConfig, frozen=True):
    """Lines on the screen and in a file."""


class SinkKind(msgspec.Struct, frozen=True, kw_only=True):
    """A type of sink: everything that the rest of Interlock has to know about it."""

    name: str
    #: What a sink of this type may say in `alerts.yaml`.
    settings: type[SinkConfig]
    #: `module:function` that makes a sink of its context.
    adapter_path: str
    manner: Manner
    #: Whether a sink has several channels, of which a route may choose one.
    has_channels: bool = False


def _seconds(*delays: int) -> tuple[timedelta, ...]:
    return tuple(timedelta(seconds=each) for each in delays)


_ALERTS = "interlock.adapters.alerts"

SINK_KINDS.update(
    {
        kind.name: kind
        for kind in (
            SinkKind(
                name="slack",
                settings=SlackConfig,
                adapter_path=f"{_ALERTS}.slack:slack_sink",
                manner=Manner(
                    threaded=True, paced=True, delays=_seconds(5, 30, 120, 600, 1800, 3600)
                ),
                has_channels=True,
            ),
            SinkKind(
                name="webhook",
                settings=WebhookConfig,
                adapter_path=f"{_ALERTS}.webhook:webhook_sink",
                manner=Manner(delays=_seconds(5, 60, 300, 1800, 7200, 18000, 36000)),
            ),
            SinkKind(
                name="console",
                settings=ConsoleConfig,
                adapter_path=f"{_ALERTS}.console:console_sink",
                manner=Manner(delays=_seconds(5, 30, 120, 600, 1800, 3600)),
            ),
        )
    }
)
