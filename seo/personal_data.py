"""Personal data of redirects: none."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("seo.Redirect",)
