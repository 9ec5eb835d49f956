"""Planned: what a plan would make, asked by type and name."""

import json
from collections.abc import Iterator
from typing import Any

Plan = dict[str, Any]


def resources(plan: Plan, kind: str) -> dict[str, dict[str, Any]]:
    """The resources of a type by their address within the module: `function["watchdog"]`."""
    found = _all(plan["planned_values"]["root_module"])
    return {
        each["address"].split(f"{kind}.", 1)[1]: each.get("values", {})
        for each in found
        if each["type"] == kind
    }


def statements(plan: Plan, role: str) -> list[dict[str, Any]]:
    """The statements of a role's policy; its name stands in brackets for a function."""
    policy = resources(plan, "aws_iam_role_policy")[role]["policy"]
    found: list[dict[str, Any]] = json.loads(policy)["Statement"]
    return found


def environment(plan: Plan, function: str) -> dict[str, str]:
    made = resources(plan, "aws_lambda_function")[f'function["{function}"]']
    found: dict[str, str] = made["environment"][0]["variables"]
    return found


def waits_for(plan: Plan, address: str) -> set[str]:
    """What a resource says it depends on, beside what it refers to."""
    module = plan["configuration"]["root_module"]["module_calls"]["interlock"]["module"]
    (found,) = (each for each in module["resources"] if each["address"] == address)
    return set(found.get("depends_on", []))


def as_list(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


def _all(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from _all(child)
