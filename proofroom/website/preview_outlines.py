"""Changed modules of a previewed page, outlined and named.

It works on a page that is made already, so that nothing of it stands in the way of the pages of visitors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from content.changes import Changes
from content.changes.values import Change

WORDS: Final = {
    "added": _("Added"),
    "changed": _("Changed"),
    "replaced": _("Replaced"),
    "moved": _("Moved"),
}
STYLESHEET: Final = "cms/previews/preview.css"
_MODULE: Final = re.compile(
    r'<div class="module [^"]*" id="module-([^"]+)" data-post-module-id="\1"'
)
"""As `proofroom.website.rendering` writes it. Texts cannot look like it: their quotes are escaped."""


def marks_of(changes: Changes) -> dict[str, tuple[str, ...]]:
    """Return what happened to each module that is still there, by its id: any of `WORDS`, each once."""
    found: dict[str, dict[str, None]] = {}
    for change in changes:
        if change.module_id is not None and change.kind in WORDS:
            found.setdefault(change.module_id, {})[change.kind] = None
    return {id_: tuple(kinds) for id_, kinds in found.items()}


def list_removed_modules(changes: Changes) -> list[Change]:
    return [change for change in changes if change.kind == "removed"]


def outline_changes(page: str, marks: Mapping[str, tuple[str, ...]]) -> str:
    """The page with its changed modules outlined. Its links lead out of the frame that it is shown in."""

    def mark(found: re.Match[str]) -> str:
        kinds = marks.get(found[1])
        if not kinds:
            return found[0]
        label = " · ".join(str(WORDS[kind]) for kind in kinds)
        # An attribute: the styles of the module meet the elements that they know.
        return found[0] + format_html(
            ' data-change="{}" data-change-label="{}" role="group" aria-label="{}"',
            kinds[0],
            label,
            label,
        )

    added = format_html(
        '<base target="_blank"><link rel="stylesheet" href="{}">\n</head>', static(STYLESHEET)
    )
    return _MODULE.sub(mark, page).replace("</head>", added, 1)


def empty_note(page: str) -> str:
    """The page with a sentence where its modules would stand."""
    note = format_html(
        '<p class="preview-empty" lang="{}">{}</p></main>',
        get_language() or "en",
        gettext("No module changed."),
    )
    return page.replace("</main>", note, 1)
