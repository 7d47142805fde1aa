"""The authors of rejected proposals, and the facts in them that were refused with them."""

from __future__ import annotations

from collections import Counter

from content.comparison.facts import find_facts
from content.document.changes import Change, Changes
from content.post_checks.proposals import text_of_value
from content.store.layer_state import Marks, mark_of
from proofroom.core.json import JsonObject


def describe_rejected(dropped: Changes, marks: Marks, language: str) -> JsonObject:
    """Return agent, AI client and number of refused facts by path, of proposals by agents and AI clients.

    The event of a rejection stores it, because the marks are gone with the changes.
    """
    found: JsonObject = {}
    for change in dropped:
        mark = mark_of(marks, change.path)
        if mark is not None and mark.is_ai:
            found[change.path] = {
                "agent": mark.agent_id or "",
                "client": mark.principal,
                "facts": count_new_facts(change, language),
            }
    return found


def count_new_facts(change: Change, language: str) -> int:
    """Return the number of dates, prices and numbers that the change adds to the text."""
    added = _facts(text_of_value(change.after), language)
    added.subtract(_facts(text_of_value(change.before), language))
    return sum(count for count in added.values() if count > 0)


def _facts(text: str, language: str) -> Counter[tuple[str, str]]:
    if not text:
        return Counter()
    found = find_facts(text, language)
    return Counter((kind, fact) for kind in ("date", "price", "number") for fact in found[kind])
