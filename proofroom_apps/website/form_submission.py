"""The result of a submitted form, for the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """The result of a form. `at` is the id of the form's module. Without errors and notice, the form was accepted.

    `values` are the submitted values, several of checkboxes. `errors` are sentences by field name, `notice` is about
    the whole form.
    """

    at: str
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notice: str = ""

    @property
    def is_taken(self) -> bool:
        return not self.errors and not self.notice
