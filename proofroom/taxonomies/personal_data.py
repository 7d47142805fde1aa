"""Personal data of terms: none."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("proofroom_taxonomies.Term",)
