"""Differences between two documents: diff, apply, merge. Pure functions.

Laws (property-tested): `apply(a, diff(a, b)) == b`; `merge(a, a, b) == b`; `merge(a, b, a) == b`; merging again
changes nothing; a module added on one side never marks the others changed; what a merge does not take is a conflict.
"""

from content.changes.apply import apply
from content.changes.diff import diff
from content.changes.merge import MergeConflict, Merged, merge
from content.changes.values import ABSENT, TERMS_PATH, Change, Changes, Kind, Value, same, value_at

__all__ = [
    "ABSENT",
    "TERMS_PATH",
    "Change",
    "Changes",
    "Kind",
    "MergeConflict",
    "Merged",
    "Value",
    "apply",
    "diff",
    "merge",
    "same",
    "value_at",
]
