"""The report of a run: its lines grouped by kind, outcome and reason, with counts and a few examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from proofroom.core.json import JsonObject
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.registry import Output

EXAMPLES: Final = 3
_GROUPS_SHOWN: Final = 200
_REASON_MAX: Final = 200
KINDS: Final[dict[str, Promise]] = {
    "items": gettext_lazy("Unreadable items"),
    "terms": gettext_lazy("Topics and tags"),
    "files": gettext_lazy("Files"),
    "posts": gettext_lazy("Posts"),
    "menus": gettext_lazy("Menus"),
    "redirects": gettext_lazy("Redirects"),
}
OUTCOMES: Final[dict[str, Promise]] = {
    "created": gettext_lazy("New"),
    "updated": gettext_lazy("Changed"),
    "staged": gettext_lazy("Sent to Review"),
    "unchanged": gettext_lazy("Unchanged"),
    "skipped": gettext_lazy("Skipped"),
    "failed": gettext_lazy("Failed"),
}
_SOURCE: Final = gettext_lazy("The source as a whole")
_NOTE: Final = gettext_lazy("Notes")
# Problems first, then what changes, then notes.
_ORDER: Final = ("failed", "skipped", "staged", "updated", "created", "", "unchanged")
_NUMBER: Final = re.compile(r"\d[\d,.]*")


@dataclass(slots=True)
class ReportGroup:
    """Lines of one kind with the same outcome and reason. A note about an item has no outcome."""

    kind: str
    outcome: str
    severity: str
    reason: str
    number: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def kind_label(self) -> str:
        return str(KINDS.get(self.kind, _SOURCE if not self.kind else self.kind))

    @property
    def outcome_label(self) -> str:
        return str(OUTCOMES.get(self.outcome, _NOTE))

    def to_json(self) -> JsonObject:
        return {
            "kind": self.kind,
            "outcome": self.outcome or "note",
            "severity": self.severity,
            "reason": self.reason,
            "count": self.number,
            "examples": [*self.examples],
        }


@dataclass(slots=True)
class RunReport:
    """The groups of a run. `more`: number of groups beyond those shown."""

    run: ImportRun
    groups: list[ReportGroup]
    more: int = 0

    def to_json(self) -> JsonObject:
        run = self.run
        return {
            "source": run.source,
            "name": run.name,
            "dryRun": run.is_dry_run,
            "state": str(run.state),
            "why": run.why,
            "counts": run.counts,
            "groups": [group.to_json() for group in self.groups],
        }

    def write(self, out: Output) -> None:
        """Print the groups, below the counts of their kind."""
        kind: str | None = None
        for group in self.groups:
            if group.kind != kind:
                kind = group.kind
                counts = self.run.counts.get(kind, {})
                listed = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
                out.write(f"{group.kind_label}: {listed}" if listed else f"{group.kind_label}")
            reason = f" {group.reason}" if group.reason else ""
            out.write(f"  {group.number} × {group.outcome or 'note'}:{reason}")
            for example in group.examples:
                out.write(f"      {example}")
        if self.more:
            out.write(f"… and {self.more} further groups.")


def report_of(run: ImportRun) -> RunReport:
    """Return the report. One query, for at most `MAX_LINES` lines."""
    groups: dict[tuple[str, str, str, str], ReportGroup] = {}
    rows = ImportLine.objects.filter(run=run).order_by("pk")
    values = rows.values_list("kind", "outcome", "severity", "place", "message")
    for kind, outcome, severity, place, message in values.iterator(chunk_size=2000):
        reason = reason_of(message)
        group = groups.setdefault(
            (kind, outcome, severity, reason), ReportGroup(kind, outcome, severity, reason)
        )
        group.number += 1
        if len(group.examples) < EXAMPLES:
            detail = message if message != reason else ""
            group.examples.append(": ".join(part for part in (place, detail) if part)[:400])
    ordered = sorted(groups.values(), key=_order_of)
    return RunReport(run, ordered[:_GROUPS_SHOWN], max(0, len(ordered) - _GROUPS_SHOWN))


def reason_of(message: str) -> str:
    """Return the part of a message that it shares with others of its kind.

    The names and values of an item follow a colon, and numbers differ.
    """
    head, colon, _rest = message.partition(": ")
    shared = f"{head}." if colon else message
    return _NUMBER.sub("…", shared)[:_REASON_MAX]


def _order_of(group: ReportGroup) -> tuple[int, int, int]:
    kinds = [*KINDS]
    kind = kinds.index(group.kind) if group.kind in kinds else len(kinds)
    outcome = _ORDER.index(group.outcome) if group.outcome in _ORDER else len(_ORDER)
    return kind, outcome, -group.number


def groups_by_kind(report: RunReport) -> Iterator[tuple[str, list[ReportGroup]]]:
    """Yield the groups of each kind with the label of the kind."""
    found: dict[str, list[ReportGroup]] = {}
    for group in report.groups:
        found.setdefault(group.kind_label, []).append(group)
    yield from found.items()
