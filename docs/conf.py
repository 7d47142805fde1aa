"""Sphinx settings of the site of the documentation, which `./run docs` builds.

Its source folder is the checkout, so that the site also has the files beside `docs/` that pages link to.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

from proofroom.version import RELEASE

project = "Proofroom"
copyright = "2026 the CMS authors, under the MIT licence"
version = release = RELEASE
root_doc = "docs/index"
extensions = ["myst_parser"]
myst_heading_anchors = 6
exclude_patterns = [".*", "var", "frontend", "**/node_modules"]
include_patterns = ["docs/**", "*.md", "benchmarks/RESULTS.md"]

html_theme = "furo"
html_title = f"{project} {RELEASE}"
html_favicon = "../static/cms/favicon.svg"
html_copy_source = False
html_show_sphinx = False
html_use_index = False

_LINK: Final = re.compile(r"\]\(((?:[\w-]+/index|[\w-]+)\.md)[#)]")
_PAGES_OF_THE_REPOSITORY: Final = {
    "docs/index": ["/CHANGELOG.md", "/SECURITY.md", "README of the repository </README.md>"],
    "docs/development/index": ["/CONTRIBUTING.md", "/benchmarks/RESULTS.md"],
}


def add_navigation(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the pages that the index page of a folder links to into the navigation, in this order.

    GitHub and the admin's Help would show a `toctree` in the file as code.
    """
    folder, name = posixpath.split(docname)
    if name == "index":
        pages = [*_LINK.findall(source[0]), *_PAGES_OF_THE_REPOSITORY.get(docname, [])]
        if Path(app.srcdir, folder, "de/index.md").exists():
            pages.append("de/index.md")
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", "", *dict.fromkeys(pages), "```", ""])


def set_language(
    app: Sphinx, docname: str, template: str, context: dict[str, object], doctree: object
) -> None:
    """Tell browsers and screen readers that the pages in a folder `de` are German."""
    if "/de/" in docname:
        context["language"] = "de"


def add_front_page(app: Sphinx, error: Exception | None) -> None:
    """Lead from the site's address to the first page, which has the address of its folder."""
    if error is None and app.builder.name == "html":
        first = app.builder.get_target_uri(root_doc)
        refresh = f'<meta http-equiv="refresh" content="0; url={first}">'
        page = f'<!doctype html><html lang="en"><title>{project}</title>{refresh}\n'
        Path(app.outdir, "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_navigation)
    app.connect("html-page-context", set_language)
    app.connect("build-finished", add_front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
