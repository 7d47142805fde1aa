"""How the pages of the documents are written. `./run docs` checks their links and the index pages."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.commands import ROOT, run_command

DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(DOCS.rglob("*.md"))
WORDS_MAX: Final = 1800
"""Of a page outside the reference."""
HOW_TO_LINES_MAX: Final = 120


def prose_of(text: str) -> Iterator[str]:
    """Yield the lines outside of code blocks."""
    fence = ""
    for line in text.splitlines():
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence:
            yield line


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_a_page_has_one_title_at_its_top() -> None:
    wrong = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        titles = [line for line in prose_of(text) if line.startswith("# ")]
        if not text.startswith("# ") or len(titles) != 1:
            wrong.append(name_of(path))

    assert wrong == []


def test_only_pages_of_the_reference_are_long() -> None:
    pages = [path for path in PAGES if DOCS / "reference" not in path.parents]

    assert len(pages) > 100
    assert [name_of(path) for path in pages if len(path.read_text().split()) > WORDS_MAX] == []


def test_a_how_to_fits_on_a_few_screens() -> None:
    pages = [path for path in PAGES if DOCS / "how-to" in path.parents]

    assert len(pages) > 40
    assert [
        name_of(path) for path in pages if len(path.read_text().splitlines()) > HOW_TO_LINES_MAX
    ] == []


def test_commands_are_console_blocks_with_prompts() -> None:
    blocks = re.compile(r"(?ms)^[ ]*```(sh|bash|shell|console)\n(.*?)^[ ]*```$")
    wrong = [
        (name_of(path), block)
        for path in PAGES
        for language, block in blocks.findall(path.read_text(encoding="utf-8"))
        if language != "console" or not block.lstrip().startswith(("$ ", "# "))
    ]

    assert wrong == []


_INDEX_OF_ERRORS: Final = """# Title

[right](page.md#a-heading) [no file](none.md) [no folder](../none/) [no heading](page.md#none)
[none here](#none-here) ![no image](none.png) [elsewhere](https://example.com/none)
"""
_ERRORS: Final = {
    "docs/index.md: toctree contains reference to nonexisting document 'docs/none'",
    "docs/index.md: image file not readable: docs/none.png",
    "docs/index.md: 'myst' cross-reference target not found: 'none.md'",
    "docs/index.md: 'myst' cross-reference target not found: '../none/'",
    "docs/index.md: 'myst' cross-reference target not found: 'none-here'",
    "docs/index.md: local id not found in doc 'docs/page': 'none'",
    "docs/unlisted.md: document isn't included in any toctree",
}


@pytest.mark.parametrize(
    ("index", "errors"),
    [
        (_INDEX_OF_ERRORS, _ERRORS),
        ("# Title\n\n[right](page.md#a-heading) [the other](unlisted.md)\n", set()),
    ],
    ids=["wrong", "right"],
)
def test_the_site_is_built_only_if_every_link_leads_somewhere(
    index: str, errors: set[str], tmp_path: Path
) -> None:
    """Uses the settings of the site for a small one."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "conf.py").write_text((DOCS / "conf.py").read_text())
    (docs / "index.md").write_text(index)
    for name in ("page.md", "unlisted.md", "../README.md", "../CHANGELOG.md", "../SECURITY.md"):
        (docs / name).write_text("# Page\n\n## A heading\n")

    words = ["-b", "dummy", "-q", "-W", "--keep-going", "--no-color", "-D", "html_favicon="]
    sphinx = [sys.executable, "-m", "sphinx"]
    done = run_command([*sphinx, *words, "-c", docs, tmp_path, tmp_path / "out"])

    found = re.findall(rf"(?m)^{tmp_path}/([^:]+)(?::\d+)?: WARNING: (.+) \[[\w.]+\]$", done.stderr)
    assert {f"{page}: {error}" for page, error in found} == errors
    assert done.returncode == (1 if errors else 0)
