"""The result of a form that a visitor sent, for the page that answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """`at` is the id of the module whose form it was. Without errors and a notice, it was taken.

    `values` are what the visitor had filled in, `errors` are sentences by the names of fields, `notice` is one about
    the form as a whole.
    """

    at: str
    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notice: str = ""

    @property
    def is_taken(self) -> bool:
        return not self.errors and not self.notice
