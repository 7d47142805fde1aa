"""The English that people and models read: pages, messages, descriptions of tools, prompts, comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from proofroom.core.i18n.catalogue import catalogue_of
from tests.commands import ROOT, run_command
from tests.words.test_catalogue import entries

_PAGES: Final = ("*.md", ":!*.de.md", ":!docs/admin/de", ":!benchmarks/RESULTS.md", ":!tests")
_NO_PROSE: Final = (
    *("**/*.po", "**/*.lock", "**/package-lock.json", "**/*.svg", "**/LICENSE*", "**/*LICENSES*"),
    *(
        "docs/openapi.yaml",
        "docs/admin/de/**",
        "docs/mcp-context.json",
        "**/vendor/**",
        "**/migrations/**",
    ),
    # Content of the sample site, language data of the review, and this check itself.
    *("proofroom_apps/starter/demo/**", "content/comparison/words/**"),
    *("tests/content/safe_changes/**", "tests/words/**"),
)
"""Files without prose of the product in English."""
_CODE: Final = re.compile(
    r"`[^`]*`|%\(\w+\)[a-z]|\{[\w.!:]*\}|%[sd]|\b[a-z]+[A-Z]\w*|\b(?:https?|mailto)\b"
)
"""Code, placeholders, names of fields and schemes of addresses."""


@dataclass(frozen=True)
class Text:
    name: str
    text: str


@dataclass(frozen=True)
class Finding:
    """`name`: the file, or the kind of text. `line`: counted from 1."""

    name: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.problem}"


def tracked(*patterns: str) -> list[str]:
    """Return the names of committed and new files, for patterns of git."""
    listed = run_command(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        check=True,
    )
    return sorted(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


def pages() -> list[Text]:
    """Return the Markdown files in English, without their front matter."""
    return [
        Text(name, _without_front_matter((ROOT / name).read_text())) for name in tracked(*_PAGES)
    ]


def documents() -> list[Text]:
    """Return the pages for people who work with the product, without sample content and prompts."""
    return [page for page in pages() if not re.search("/demo/|/agents/", page.name)]


def sources() -> list[Text]:
    """Return all files of text, with comments, docstrings and messages in them."""
    found = []
    for name in tracked("*", *(f":(exclude,glob){one}" for one in _NO_PROSE)):
        try:
            found.append(Text(name, (ROOT / name).read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # a picture or a font
    return found


def messages() -> list[Text]:
    """Return the English messages of the admin."""
    found = []
    for entry in entries(catalogue_of("de").read_text()):
        found += [Text(f"message {one!r}", _plain(one)) for one in entry.message[1:] if one]
    return found


def descriptions() -> list[Text]:
    """Return the descriptions that AI clients and agents read of tools and definitions."""
    context = json.loads((ROOT / "docs" / "mcp-context.json").read_text())
    found = sorted(set(_descriptions(context)))
    return [Text(f"description {one!r}", _plain(one)) for one in found]


def _plain(text: str) -> str:
    """Return the text with the same code in each place that is no English, because no rule reads code."""
    return _CODE.sub("`x`", text)


def _descriptions(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(description := value.get("description"), str):
            yield description
        for part in value.values():
            yield from _descriptions(part)
    elif isinstance(value, list):
        for part in value:
            yield from _descriptions(part)


def _without_front_matter(text: str) -> str:
    """Return the text with empty lines in place of its front matter, so that lines can be counted."""
    if match := re.match(r"---\n.*?\n---\n", text, re.DOTALL):
        return "\n" * match[0].count("\n") + text[match.end() :]
    return text
