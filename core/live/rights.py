"""Who hears of what, asked anew each time that something is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.actor import Person
from core.events.kinds import find_kind
from core.live.told import Told

MayHear = Callable[[Person, Told], bool]
Rule = Callable[[Sequence[Told]], MayHear]
_rules: list[Rule] = []


def register(rule: Rule) -> None:
    """Have `rule(events)` asked, once for all that is told at a time, for the answer to who may hear of each.

    It reads what it needs in as many queries for many events as for one; what it answers reads nothing.
    """
    if rule not in _rules:
        _rules.append(rule)


def may_hear_of(events: Sequence[Told]) -> MayHear:
    """The answer for these events: by the permission of their kind, and every rule."""
    answers = [rule(events) for rule in _rules] if events else []

    def may_hear(person: Person, event: Told) -> bool:
        kind = find_kind(event.name)
        return (
            kind is not None
            and (kind.is_progress or not kind.is_internal)
            and person.has_perm(kind.permission)
            and all(answer(person, event) for answer in answers)
        )

    return may_hear
