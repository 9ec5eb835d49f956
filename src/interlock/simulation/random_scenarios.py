"""Random scenarios: unforeseen worlds, generated from a seed.

A scenario is generated as the document that a file would hold, so that one that breaks an invariant can be
shrunk and printed as a file.
"""

import random
from datetime import UTC, datetime, timedelta

from interlock.domain.timestamp import spell
from interlock.simulation.random_edits import CRONS, DEADLINES, ZONES, Document, edited

_STARTS = (
    datetime(2026, 3, 2, 12, tzinfo=UTC),
    datetime(2026, 3, 7, 20, tzinfo=UTC),  # New York puts its clocks forward
    datetime(2026, 3, 28, 12, tzinfo=UTC),  # Berlin does
    datetime(2026, 10, 24, 18, tzinfo=UTC),  # Berlin puts them back
    datetime(2026, 11, 1, 0, tzinfo=UTC),  # New York does
    datetime(2026, 12, 31, 6, tzinfo=UTC),
)
_WINDOWS = (("10m", "1m"), ("1h", "5m"), ("30m", "30m"), ("2h", "10m"))
_CATEGORIES = ("TRANSIENT", "PERMANENT", "TIMEOUT", None)
_CALLS = ("publish", "launch", "find", "poll", "start", "alert", "read")
_SPANS = ("20s", "90s", "5m", "12m", "40m")
_ABSENCES = ("500ms", "3s", "90s", "9m", "11m", "3h")
_OUTCOMES = ("done", "done", "failed")
_TURNS = ("pause", "resume", "cancel")
_TAKES = ("1s", "10s", "40s")
_OTHER_RULES: tuple[Document, ...] = (
    {"key": "landed", "check": "not_equals", "field": "count", "value": 99},
    {"key": "landed", "check": "in", "field": "count", "value": [100, 400, 500]},
    {"key": "landed", "check": "between", "field": "count", "value": [50, 450]},
    {"key": "landed", "check": "matches", "field": "date", "value": "2026-.*"},
    {"key": "landed", "check": "absent", "field": "error"},
    {"key": "output", "check": "absent"},
    {
        "key": "landed",
        "check": "gte",
        "field": "count",
        "value": {"field": "count", "key": "ready"},
    },
    {
        "key": "landed",
        "check": "changed_by",
        "field": "count",
        "value": {"down": "80%", "first": "pass"},
    },
    {"key": "ready", "check": "changed_by", "field": "count", "value": 400},
)


def random_scenario(seed: int) -> Document:
    """The same document for the same seed."""
    return _Maker(random.Random(seed), seed).document()  # noqa: S311 - not for secrets


class _Maker:
    def __init__(self, chance: random.Random, seed: int) -> None:
        self._chance = chance
        self._seed = seed
        self._start = chance.choice(_STARTS)
        self._length = timedelta(hours=chance.choice((12, 18, 30)))
        self._is_slow = chance.random() < 0.4
        self._skipped: list[Document] = []

    def document(self) -> Document:
        names = [f"p{n}" for n in range(self._chance.randint(1, 3))]
        pipelines = [self._pipeline(name, names[:n]) for n, name in enumerate(names)]
        return {
            "name": f"random {self._seed}",
            "start": spell(self._start),
            "until": spell(self._start + self._length),
            "watchdog": self._chance.choice(("5m", "15m", "30m")),
            "pipelines": pipelines,
            "jobs": {name: self._scripts() for name in names},
            "timeline": self._timeline([*pipelines]),
        }

    def _pipeline(self, name: str, upstreams: list[str]) -> Document:
        chance = self._chance
        schedule = self._schedule(upstreams)
        has_trigger = "trigger" in schedule
        document: Document = {
            "pipeline": {"id": name, "owner": "random"},
            "schedule": schedule,
            "validation": {"trigger": chance.choice(("ALL", "ANY")), "rules": self._rules()},
            "job": {
                "type": "command",
                "config": {"command": ["etl"]},
                "maxRetries": chance.randint(0, 2),
                "maxCodeRetries": chance.randint(0, 1),
                "maxDriftReruns": chance.randint(0, 2),
                "maxManualReruns": chance.randint(0, 2),
                "jobPollWindowSeconds": chance.choice((600, 1800, 3600)),
            },
        }
        if chance.random() < 0.3:
            document["validation"]["maxAge"] = chance.choice(("2h", "20h"))
        if chance.random() < 0.3:
            document["job"]["maxConcurrent"] = chance.randint(1, 2)
        if chance.random() < 0.2:
            document["job"]["pollInterval"] = chance.choice(("10s", "2m"))
        if chance.random() < 0.6:
            document["sla"] = self._sla(schedule, has_trigger)
        if chance.random() < 0.4:
            document["postRun"] = self._post_run()
        if has_trigger and chance.random() < 0.1:
            document["dryRun"] = True
        return document

    def _schedule(self, upstreams: list[str]) -> Document:
        chance = self._chance
        window, interval = chance.choice(_WINDOWS)
        schedule: Document = {
            "timezone": chance.choice(ZONES),
            "evaluation": {"window": window, "interval": interval},
        }
        kind = chance.choice(("sensor", "sensor", "cron", "both", "include", "upstream"))
        if kind in ("cron", "both"):
            schedule["cron"] = chance.choice(CRONS)
        if kind == "include":
            days = (self._start + timedelta(days=n) for n in range(3))
            schedule["include"] = {"dates": [f"{day:%Y-%m-%d}" for day in days]}
            schedule["time"] = "09:00"
        if kind in ("sensor", "both") or (kind == "include" and chance.random() < 0.5):
            schedule["trigger"] = self._trigger()
        if kind == "upstream":
            upstream = chance.choice(upstreams) if upstreams else None
            schedule["trigger"] = {"pipeline": upstream} if upstream else self._trigger()
        if chance.random() < 0.2:
            schedule["exclude"] = {"weekends": True}
        if chance.random() < 0.2:
            schedule["horizon"] = "3d"
        return schedule

    def _trigger(self) -> Document:
        chance = self._chance
        trigger: Document = {"key": "landed", "check": "exists"}
        if chance.random() < 0.3:
            trigger = {"key": "landed", "check": "gte", "field": "count", "value": 100}
        if chance.random() < 0.2:
            trigger["deadline"] = chance.choice(("09:00", "21:30"))
        return trigger

    def _rules(self) -> list[Document]:
        rules = [{"key": "landed", "check": "gte", "field": "count", "value": 100}]
        if self._chance.random() < 0.4:
            rules.append({"key": "ready", "check": "exists"})
        if self._chance.random() < 0.4:
            rules.append(self._other_rule())
        return rules

    def _other_rule(self) -> Document:
        """A rule of another form; mostly one that can hold, so that jobs run in these worlds too."""
        chance = self._chance
        rule = dict(chance.choice(_OTHER_RULES))
        if chance.random() < 0.3:
            rule["stableFor"] = chance.choice(("1m", "10m"))
        if chance.random() < 0.5:
            return rule
        name = chance.choice(("anyOf", "allOf"))
        return {name: [rule, dict(chance.choice(_OTHER_RULES))]}

    def _sla(self, schedule: Document, has_trigger: bool) -> Document:
        chance = self._chance
        sla: Document = {"deadline": chance.choice(DEADLINES)}
        if schedule.get("cron") in ("0 * * * *", "*/30 * * * *"):
            sla["deadline"] = ":45"
        if chance.random() < 0.3:
            sla["evaluationDeadline"] = ":20" if sla["deadline"] == ":45" else "07:30"
        if has_trigger and chance.random() < 0.4:
            sla["maxDuration"] = chance.choice(("20m", "2h"))
        if chance.random() < 0.5:
            sla["expectedDuration"] = "15m"
        return sla

    def _post_run(self) -> Document:
        chance = self._chance
        key = chance.choice(("landed", "output"))
        post_run: Document = {
            "rules": [{"key": key, "check": "gte", "field": "count", "value": 100}],
            "driftThreshold": chance.choice((0, 50)),
            "sensorTimeout": "1h",
        }
        if chance.random() < 0.4:
            post_run["evaluation"] = {"window": "5h", "interval": "40m"}
            age = {"key": "output", "check": "age_lt", "field": "updatedAt", "value": "1h"}
            post_run["rules"].append(age)
        if chance.random() < 0.3:
            post_run["lateWindow"] = chance.choice(("0s", "2h"))
        return post_run

    def _scripts(self) -> list[Document]:
        return [self._script() for _ in range(self._chance.randint(1, 4))]

    def _script(self) -> Document:
        chance = self._chance
        slow: Document = {}
        if self._is_slow and chance.random() < 0.5:
            slow["launchTakes"] = chance.choice(_TAKES)
        if self._is_slow and chance.random() < 0.5:
            slow["pollTakes"] = chance.choice(_TAKES)
        return self._plain_script() | slow

    def _plain_script(self) -> Document:
        chance = self._chance
        kind = chance.random()
        if kind < 0.55:
            return {"after": f"{chance.randint(0, 50)}m", "result": "success"}
        if kind < 0.8:
            category = chance.choice(_CATEGORIES)
            script = {"after": f"{chance.randint(0, 10)}m", "result": "fail", "error": "no luck"}
            return script | ({} if category is None else {"category": category})
        if kind < 0.95:
            category = chance.choice(("TRANSIENT", "PERMANENT"))
            return {"launch": "error", "category": category, "error": "no cluster"}
        return {"after": "5m", "hang": True}

    def _timeline(self, pipelines: list[Document]) -> list[Document]:
        count = self._chance.randint(4, 24)
        minutes = int(self._length / timedelta(minutes=1))
        moments = sorted(self._chance.randint(0, minutes - 1) for _ in range(count))
        return [
            {"at": spell(self._start + timedelta(minutes=minute)), **happening}
            for minute in moments
            for happening in self._happenings(pipelines)
        ]

    def _happenings(self, pipelines: list[Document]) -> list[Document]:
        """Mostly one fault; sometimes several calls fail at the same time, and the controller may die too."""
        kind = self._chance.random()
        if kind >= 0.13:
            return [self._happening(pipelines)]
        if kind >= 0.1:
            return self._absence(pipelines)
        trouble = [self._failure(call) for call in self._chance.sample(_CALLS, 3)]
        return trouble + ([{"crash": True}] if self._chance.random() < 0.5 else [])

    def _failure(self, call: str) -> Document:
        chance = self._chance
        if chance.random() < 0.5:
            return {"fail": {"call": call, "times": chance.randint(1, 12)}}
        return {"fail": {"call": call, "for": chance.choice(_SPANS)}}

    def _happening(self, pipelines: list[Document]) -> Document:
        chance = self._chance
        position = chance.randrange(len(pipelines))
        name = pipelines[position]["pipeline"]["id"]
        kind = chance.random()
        if kind < 0.54:
            return {"sensor": self._reading(name)}
        if kind < 0.64:
            forced = chance.random() < 0.5
            return {"rerun": {"pipeline": name, "date": self._date(), "force": forced}}
        if kind < 0.72:
            return {"crash": True}
        if kind < 0.78:
            return {"outage": chance.choice(("5m", "45m", "5h"))}
        if kind < 0.83:
            return self._failure(chance.choice(_CALLS))
        if kind < 0.87:
            return {chance.choice(("pause", "resume")): name}
        if kind < 0.91:
            return self._operation(pipelines[position])
        if kind < 0.93:
            return {"backfill": self._backfill(name)}
        if kind < 0.94:
            return {"delete": {"pipeline": name, "key": "landed"}}
        pipelines[position] = edited(pipelines[position], chance)
        return {"config": pipelines[position]}

    def _operation(self, pipeline: Document) -> Document:
        """What a person says about a date: of its schedule's clock, or of any day."""
        chance = self._chance
        date = self._date() + self._time(pipeline.get("schedule", {}).get("cron"))
        kind = chance.choice(("skip", "skip", "skip", "unskip", "unskip", "cancel", "mark", "mark"))
        about: Document = {"pipeline": pipeline["pipeline"]["id"], "date": date}
        if kind == "skip":
            self._skipped.append(about)
        if kind == "unskip" and self._skipped:
            about = chance.choice(self._skipped)
        return {kind: about | ({"outcome": chance.choice(_OUTCOMES)} if kind == "mark" else {})}

    def _backfill(self, name: str) -> Document:
        """A range of days, also one in the wrong order or of days to come, or a turn of the newest."""
        chance = self._chance
        if chance.random() < 0.4:
            return {"pipeline": name, "turn": chance.choice(_TURNS)}
        about: Document = {"pipeline": name, "from": self._date(), "to": self._date()}
        return about | {"maxConcurrent": chance.randint(1, 3)}

    def _time(self, cron: str | None) -> str:
        """The time in a date of a cron that fires more than once a day."""
        if cron is None or cron.split()[1].isdigit():
            return ""
        hour = f"T{self._chance.randrange(0, 24, 6 if '/6' in cron else 1):02}"
        return f"{hour}:{self._chance.choice(('00', '30'))}" if cron.startswith("*/") else hour

    def _absence(self, pipelines: list[Document]) -> list[Document]:
        """A file disappears, and returns soon, late, or never."""
        chance = self._chance
        name = chance.choice(pipelines)["pipeline"]["id"]
        gone: Document = {"file": {"remove": name}}
        if chance.random() < 0.1:
            return [gone]
        return [gone, {"at": f"+{chance.choice(_ABSENCES)}", "file": {"restore": name}}]

    def _reading(self, name: str) -> Document:
        chance = self._chance
        key = chance.choice(("landed", "landed", "landed", "ready", "output"))
        data: Document = {"count": chance.choice((10, 99, 100, 400, 500))}
        if key == "output":
            data["updatedAt"] = spell(self._start + timedelta(hours=chance.randint(0, 20)))
        how = chance.random()
        if how < 0.6:
            data["date"] = self._date()
        elif how < 0.7:
            key = f"{key}#{self._date()}"
        if "date" in data and chance.random() < 0.25:
            data["hour"] = chance.randint(0, 23)
        if chance.random() < 0.03:
            data["date"] = "yesterday"
        return {"pipeline": name, "key": key, "data": data}

    def _date(self) -> str:
        day = self._start + timedelta(days=self._chance.randint(-1, 2))
        return f"{day:%Y-%m-%d}"
