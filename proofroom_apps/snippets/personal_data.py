"""Personal data of snippets and post templates: none."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("proofroom_snippets.Snippet", "proofroom_snippets.PostTemplate")
