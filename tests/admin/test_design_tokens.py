"""The style sheets use only defined tokens: CSS ignores undefined ones silently."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "static" / "cms"
DEFINED = re.compile(r"--([\w-]+)\s*:|setProperty\(\s*[\"'`]--([\w-]+)")
SHARED = ("design/base.css", "design/components.css", "site.css")


def defined_in(text: str) -> set[str]:
    return {name for pair in DEFINED.findall(text) for name in pair if name}


def test_every_token_that_a_style_sheet_uses_is_defined() -> None:
    shared = {name for path in SHARED for name in defined_in((FOLDER / path).read_text())}
    for script in FOLDER.rglob("*.js"):
        if "vendor" not in script.parts:
            shared |= defined_in(script.read_text())
    unknown = {}
    for sheet in FOLDER.rglob("*.css"):
        text = sheet.read_text()
        # With a fallback, `var(--a, 1px)`, a token may be undefined.
        used = set(re.findall(r"var\(--([\w-]+)\s*\)", text))
        if missing := used - shared - defined_in(text):
            unknown[sheet.name] = missing
    assert unknown == {}
