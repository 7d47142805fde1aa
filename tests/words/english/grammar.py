"""Spelling and grammar by harper, which needs no network once npm has installed it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.mcp import npm
from tests.words.english.texts import Finding, Text

_FOLDER: Final = Path(__file__).parent / "harper"
_VOCABULARY: Final = Path(__file__).with_name("vocabulary.txt")


def mistakes(texts: Sequence[Text]) -> Iterator[Finding]:
    """Yield what the rules in `harper/rules.txt` find. `vocabulary.txt` has the words that are right."""
    question = {
        "texts": [text.text for text in texts],
        "rules": (_FOLDER / "rules.txt").read_text().split(),
        "vocabulary": _VOCABULARY.read_text().split(),
    }
    done = npm.node("check.mjs", folder=_FOLDER, input=json.dumps(question), seconds=300)
    if done.returncode:
        raise RuntimeError(done.stderr)
    for one in json.loads(done.stdout):
        if one["rule"] == "SpellCheck" and re.fullmatch(r"\w(?:\.|’s)", one["problem"]):
            continue  # a single letter, such as the version B.
        better = " or ".join(f"“{text}”" for text in one["suggestions"][:3])
        problem = f"“{one['problem']}”: {one['message']} {better and f'({better})'}".strip()
        yield Finding(texts[one["text"]].name, one["line"], f"{problem} [{one['rule']}]")
