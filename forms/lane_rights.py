"""What the database role of agents may do with forms. A run has its submission with it."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable

RIGHTS: Final = (
    *readable("forms.FormDefinition"),
    *hidden("forms.FormSubmission", "forms.SubmissionFile"),
)
