"""Rules: how many five-rule sets are judged in a second, without input or output."""

from datetime import UTC, datetime

from benchmarks.figures import spread, tell, timed
from interlock.domain.check import Check
from interlock.domain.pipeline import Rule
from interlock.domain.rules import judge
from interlock.domain.sensor import Reading

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SETS = 20_000
RULES = (
    Rule("orders", Check.EXISTS),
    Rule("orders", Check.GTE, "count", 1000),
    Rule("orders", Check.EQUALS, "status", "complete"),
    Rule("customers", Check.LT, "errors", "5"),
    Rule("customers", Check.AGE_LT, "updatedAt", "2h"),
)
READINGS = {
    "orders": Reading("p", "orders", {"count": 4200, "status": "complete"}, NOW),
    "customers": Reading("p", "customers", {"errors": 0, "updatedAt": "2026-03-04T11:00:00Z"}, NOW),
}


def main() -> None:
    assert judge(RULES, READINGS, NOW).ready
    rates = [SETS / timed(_judge_sets) for _ in range(9)]
    figures = spread(rates)
    line = f"{figures['p50']:,.0f} sets/s at the median of {figures['n']:.0f} rounds"
    tell("rules", ">= 50,000 sets/s", line, sets_per_second=figures)


def _judge_sets() -> None:
    for _ in range(SETS):
        judge(RULES, READINGS, NOW)


if __name__ == "__main__":
    main()
