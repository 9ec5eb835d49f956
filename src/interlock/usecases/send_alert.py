"""Send alerts: deliver what is due to its sinks, once each, in threads, at the pace of each channel.

Every step is recorded in the delivery, the thread or the channel's row before the next one begins, so a
sender that takes over after a crash continues from there. A message is sent twice only if its sender
crashed between sending it and recording that: better twice than never.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import assert_never

from interlock.domain.alerting.alert_rules import CONSOLE, Alerts
from interlock.domain.alerting.deliveries import (
    Answer,
    Delivery,
    DeliveryState,
    NoAccess,
    NoChannel,
    NoThread,
    Posted,
    SendFailed,
    SinkGone,
    Target,
    TryLater,
)
from interlock.domain.alerting.digest import split
from interlock.domain.alerting.mutes import held_until
from interlock.domain.alerting.note import AlertNote, DigestNote, RootNote
from interlock.domain.alerting.threads import Thread, alert_key, thread_key
from interlock.domain.event import Event, EventType, Subject, clean, happened
from interlock.errors import InterlockError, TransientError, UnavailableError
from interlock.ports.alerts import Sink
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.escalate_alert import objection_to_escalate
from interlock.usecases.update_thread import change_thread, open_thread

log = logging.getLogger(__name__)

#: How long a sender that lost the claim of a thread waits for its first message.
THREAD_WAIT = timedelta(seconds=3)
#: How long an unreachable channel is left alone.
UNREACHABLE_WAIT = timedelta(seconds=5)


def send_alerts(
    deliveries: Sequence[Delivery], alerts: Alerts, ports: AlertPorts
) -> list[Delivery]:
    """Send the alerts that are due. Returns them as they stand afterwards, with those they led to."""
    now = ports.clock()
    due = [delivery for delivery in deliveries if delivery.is_due(now)]
    paced = {name for name, sink in ports.sinks.items() if sink.manner.paced}
    digests, alone = split(due, alerts.limits.digest_over, paced)
    turn = Round(alerts, ports)
    for delivery in alone:
        if delivery.is_critical:
            turn.send(delivery)
    for digest in digests:
        turn.send_digest(digest)
    for delivery in alone:
        if not delivery.is_critical:
            turn.send(delivery)
    turn.finish()
    rest = [delivery for delivery in deliveries if not delivery.is_due(now)]
    return [*rest, *turn.done]


@dataclass
class Round:
    """One pass over what is due. It knows which channels accept nothing more for now."""

    alerts: Alerts
    ports: AlertPorts
    done: list[Delivery] = field(default_factory=list)
    _again: list[Delivery] = field(default_factory=list)
    _closed: dict[str, datetime] = field(default_factory=dict)

    def finish(self) -> None:
        """Send what the others led to: alerts handed over, and alerts that need a new thread."""
        while self._again:
            self.send(self._again.pop(0))

    def send(self, delivery: Delivery) -> None:
        if delivery.state is DeliveryState.GIVEN_UP:
            self._tell_given_up(delivery)
            return
        if delivery.escalates and delivery.needs_post and not self._still_escalates(delivery):
            return
        sink = self._sink(delivery)
        if sink is None:
            return
        until = self._closed_until(delivery, sink)
        if until is None:
            self._claim_and_send(delivery, sink)
            return
        self._save_last(delivery.postponed(until))
        if sink.manner.paced:  # the next in line waits for this one
            self._closed[delivery.target.place] = until + self.alerts.limits.every

    def _still_escalates(self, delivery: Delivery) -> bool:
        """Until people act, or the date recovers. While its date is snoozed or muted, it waits."""
        event, now = delivery.event, self.ports.clock()
        objection = objection_to_escalate(delivery, self.ports)
        if objection is not None:
            self._save_last(delivery.cancelled(now, objection))
            return False
        handling = self.ports.handlings.find(alert_key(event))
        snooze = None if handling is None else handling.snoozed
        until = held_until(self.alerts.mutes, event, now, snooze)
        if until is not None:
            self._save_last(delivery.waits(until))
            return False
        open_thread(event, delivery.target, self.ports)
        return True

    def send_digest(self, digest: Sequence[Delivery]) -> None:
        """All in one message; each of them is sent, or fails, with it."""
        sink = self._sink(digest[0])
        if sink is None:
            for delivery in digest[1:]:
                self.send(delivery)
            return
        until = self._closed_until(digest[0], sink)
        if until is not None:
            for delivery in digest:
                self._save_last(delivery.postponed(until))
            return
        now = self.ports.clock()
        claimed = [each for each in (one.claimed(now) for one in digest) if self._save(each)]
        if claimed:
            note = DigestNote(tuple(delivery.event for delivery in claimed))
            answer = ask(lambda: sink.post(claimed[0].target.channel, note, None))
            for delivery in claimed:
                self._answered(delivery, sink, answer)

    def _sink(self, delivery: Delivery) -> Sink | None:
        """Its sink, or None after the alert was handed to another."""
        name = delivery.target.sink
        sink = self.ports.sinks.get(name)
        if sink is None:
            self._hand_over(delivery, f"the sink {name} no longer exists")
        elif self.ports.switches.is_off(name, self.alerts.declared(name)):
            self._hand_over(delivery, f"{name} accepts no more messages")
        else:
            return sink
        return None

    def _closed_until(self, delivery: Delivery, sink: Sink) -> datetime | None:
        """When to try again, if its channel accepts nothing now."""
        place, now = delivery.target.place, self.ports.clock()
        if self._closed.get(place, now) > now:
            return self._closed[place]
        if not (sink.manner.paced and delivery.needs_post):
            return None
        slot = self.ports.paces.take(place, now, self.alerts.limits.every)
        if slot <= now:
            return None
        self._closed[place] = slot
        return slot

    def _claim_and_send(self, delivery: Delivery, sink: Sink) -> None:
        claimed = delivery.claimed(self.ports.clock())
        if self._save(claimed):
            self._send_claimed(claimed, sink)

    def _send_claimed(self, delivery: Delivery, sink: Sink) -> None:
        if not delivery.needs_post:
            self._show(delivery, sink)
        elif sink.manner.threaded:
            self._post_in_thread(delivery, sink)
        else:
            note = AlertNote(delivery.event, delivery.note)
            channel = delivery.target.channel
            self._answered(delivery, sink, ask(lambda: sink.post(channel, note, None)))

    def _post_in_thread(self, delivery: Delivery, sink: Sink) -> None:
        """The first alert of a thread is its first message; the others are replies to it."""
        thread = open_thread(delivery.event, delivery.target, self.ports)
        root = thread.thread_ts
        if root is None:
            self._post_root(delivery, thread, sink)
            return
        note = AlertNote(delivery.event, delivery.note)
        answer = ask(lambda: sink.post(delivery.target.channel, note, root))
        if isinstance(answer, NoThread):
            change_thread(thread.key, lambda found: self._uprooted(found, root), self.ports)
            self._come_again(delivery)
            return
        self._answered(delivery, sink, answer)

    def _post_root(self, delivery: Delivery, thread: Thread, sink: Sink) -> None:
        now = self.ports.clock()
        mine = thread.claimed(delivery.event.event_id, now)
        if mine is None or not self.ports.threads.save(mine):
            self._save_last(delivery.postponed(now + THREAD_WAIT))  # another sender got there first
            return
        note = RootNote(mine, delivery.event, is_first=True, note=delivery.note)
        answer = ask(lambda: sink.post(delivery.target.channel, note, None))
        if isinstance(answer, Posted):
            receipt, face = answer.receipt, mine.face
            change_thread(mine.key, lambda found: _rooted(found, receipt, face), self.ports)
        else:
            change_thread(mine.key, lambda found: self._unclaimed(found, mine), self.ports)
        self._answered(delivery, sink, answer)

    def _answered(self, delivery: Delivery, sink: Sink, answer: Answer) -> None:
        """Handles a sink's answer to a message."""
        now = self.ports.clock()
        match answer:
            case Posted(receipt):
                self._posted(delivery, sink, receipt)
            case TryLater(after):
                self._block(delivery, now + after)
                self._save_last(delivery.postponed(now + after))
            case SendFailed(error, unreachable):
                if unreachable:
                    self._closed[delivery.target.place] = now + UNREACHABLE_WAIT
                self._failed(delivery, error, sink.manner.delays)
            case NoThread(error):
                self._failed(delivery, error, sink.manner.delays)
            case NoChannel(error):
                self._hand_over(delivery, f"{delivery.target}: {error}")
            case NoAccess(error):
                self._give_up(delivery, error, CONSOLE)
            case SinkGone(error):
                name = delivery.target.sink
                self.ports.switches.turn_off(name, self.alerts.declared(name))
                self._give_up(delivery, error, self._spare(delivery))
            case _:
                assert_never(answer)

    def _posted(self, delivery: Delivery, sink: Sink, receipt: str) -> None:
        if not sink.manner.threaded or not self._is_stale(delivery):
            self._save_last(delivery.sent(self.ports.clock(), receipt))
            return
        posted = delivery.posted(receipt)
        if self._save(posted):
            self._show(posted, sink)

    def _is_stale(self, delivery: Delivery) -> bool:
        thread = self.ports.threads.find(thread_key(delivery.event, delivery.target.place))
        return thread is not None and thread.is_stale

    def _show(self, delivery: Delivery, sink: Sink) -> None:
        """Update the first message of its thread."""
        answer = show_thread(delivery, sink, self.ports)
        now = self.ports.clock()
        if isinstance(answer, TryLater):
            self._block(delivery, now + answer.after)
            self._save_last(delivery.postponed(now + answer.after))
        elif isinstance(answer, SendFailed) and delivery.tries < len(sink.manner.delays):
            self._failed(delivery, answer.error, sink.manner.delays)
        else:
            self._save_last(delivery.sent(now))

    def _failed(self, delivery: Delivery, error: str, delays: Sequence[timedelta]) -> None:
        _log("alert_failed", delivery, error)
        failed = delivery.failed(clean(error), self.ports.clock(), delays)
        if failed.state is DeliveryState.GIVEN_UP:
            if self._save(failed):
                self._tell_given_up(failed)
        else:
            self._save_last(failed)

    def _give_up(self, delivery: Delivery, error: str, other: Target | None) -> None:
        """No further tries: another sink gets it, and an event reports it."""
        _log("alert_given_up", delivery, error)
        given_up = delivery.given_up(clean(error), self.ports.clock())
        if self._save(given_up):
            self._queue_for(other, given_up, f"{delivery.target}: {clean(error)}")
            self._tell_given_up(given_up)

    def _hand_over(self, delivery: Delivery, why: str) -> None:
        """The default sink gets it at once, with a note."""
        _log("alert_handed_over", delivery, why)
        if not delivery.quiet:
            self._queue_for(self._spare(delivery), delivery, clean(why))
        self._save_last(delivery.dead(self.ports.clock(), clean(why)))

    def _spare(self, delivery: Delivery) -> Target | None:
        spares = (self.alerts.default_target, CONSOLE)
        return next((each for each in spares if each.sink != delivery.target.sink), None)

    def _queue_for(self, target: Target | None, delivery: Delivery, why: str) -> None:
        if target is None or target == delivery.target:
            return
        note = f"sent here because {why}"
        other = Delivery(event=delivery.event, target=target, due_at=self.ports.clock(), note=note)
        if self.ports.deliveries.save(other):
            self._again.append(other)

    def _tell_given_up(self, delivery: Delivery) -> None:
        """Publish first, then close it: a repeat publishes the same event under the same id. While nothing
        can be published it waits, without holding up other alerts.
        """
        try:
            if delivery.event.type is not EventType.ALERT_UNDELIVERED:
                self.ports.events.publish([_undelivered(delivery)])
        except (TransientError, UnavailableError) as error:
            _log("alert_told_later", delivery, str(error))
            self._save_last(delivery.told_later(self.ports.clock() + UNREACHABLE_WAIT))
            return
        self._save_last(delivery.dead(delivery.due_at))

    def _come_again(self, delivery: Delivery) -> None:
        again = delivery.postponed(self.ports.clock())
        if self._save(again):
            self._again.append(again)

    def _block(self, delivery: Delivery, until: datetime) -> None:
        self.ports.paces.block(delivery.target.place, until)
        self._closed[delivery.target.place] = until

    def _save(self, delivery: Delivery) -> bool:
        if self.ports.deliveries.save(delivery):
            return True
        found = self.ports.deliveries.find(delivery.event, delivery.target)
        if found is not None:
            self.done.append(found)  # another sender got there first
        return False

    def _save_last(self, delivery: Delivery) -> None:
        if self._save(delivery):
            self.done.append(delivery)

    def _uprooted(self, found: Thread, root: str) -> Thread:
        return found.unclaimed(self.ports.clock()) if found.thread_ts == root else found

    def _unclaimed(self, found: Thread, mine: Thread) -> Thread:
        is_mine = found.thread_ts is None and found.claimed_by == mine.claimed_by
        return found.unclaimed(self.ports.clock()) if is_mine else found


def show_thread(delivery: Delivery, sink: Sink, ports: AlertPorts) -> Answer:
    """Change the first message of its thread if it is out of date.

    A sender that finds the thread changed meanwhile shows it once more: of two, the later is right.
    """
    key, lost = thread_key(delivery.event, delivery.target.place), False
    answer: Answer = Posted("")
    while True:
        thread = ports.threads.find(key)
        if thread is None or thread.thread_ts is None or not (thread.is_stale or lost):
            return answer
        root, note = thread.thread_ts, RootNote(thread, delivery.event)
        answer = ask(lambda: sink.update(delivery.target.channel, root, note))  # noqa: B023
        if isinstance(answer, NoThread):
            ports.threads.save(thread.unclaimed(ports.clock()))
            return answer
        if not isinstance(answer, Posted) or ports.threads.save(thread.shown()):
            return answer
        lost = True


def _rooted(found: Thread, receipt: str, face: str) -> Thread:
    """If our claim had ended and another sender posted as well, its message stays the first."""
    return found if found.thread_ts is not None else found.rooted(receipt, face)


def ask(call: Callable[[], Answer]) -> Answer:
    """A sink's answer. A sink that raises has failed, and nothing else has."""
    try:
        return call()
    except InterlockError as error:
        return SendFailed(clean(str(error)))
    except Exception as error:
        log.exception("a sink broke", extra={"action": "sink_broke"})
        return SendFailed(clean(f"{type(error).__name__}: {error}"))


def _undelivered(delivery: Delivery) -> Event:
    event, target = delivery.event, delivery.target
    return happened(
        EventType.ALERT_UNDELIVERED,
        Subject(pipeline_id=event.pipeline_id, owner=event.owner, tags=event.tags),
        delivery.due_at,
        f"{target} gave up on {event.type}: {delivery.error}",
        parts=(target.sink, event.event_id),
        sink=target.sink,
        channel=target.channel,
        error=delivery.error,
        tries=delivery.tries,
    )


def _log(action: str, delivery: Delivery, error: str) -> None:
    log.warning(
        "%s: %s",
        delivery.target,
        clean(error),
        extra={"action": action, "event": delivery.event.event_id},
    )
