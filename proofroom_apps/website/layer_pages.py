"""The page of a post with the content of a layer, its changed modules outlined and labelled.

The outlines are added to the finished page, so that public pages are not slowed down.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from content.document.changes import Change, Changes
from content.document.document import PostDocument
from content.document.post_fields import SCHEDULE_FIELDS
from content.models import ModuleInstance, Post
from content.store import post_repository
from content.store.arms import with_place_of_original
from content.store.author_names import load_author_names
from media.queries import media_exists
from proofroom.core.json import Json
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.links import MenuItems
from proofroom_apps.website.pages import PageContent, PreviewBar, page_of
from proofroom_apps.website.rendering import RenderableModule


@dataclass(frozen=True, slots=True)
class SharedPreview:
    """Unsaved values of a global module (by id), a menu (by slug) or a term (by id)."""

    props: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    menus: Mapping[str, MenuItems] = field(default_factory=dict)
    term_names: Mapping[str, str] = field(default_factory=dict)


_NOTHING_TYPED: Final = SharedPreview()
_UNSHOWN_FIELDS: Final = frozenset({"slug", "parentId", *SCHEDULE_FIELDS})
"""Fields that a preview leaves as they are. The first two would change the address, which is the live one."""


def preview_page(
    post: Post,
    document: PostDocument,
    label: str,
    only: Collection[str] | None = None,
    typed: SharedPreview = _NOTHING_TYPED,
) -> str:
    """Return the HTML page for `document` at the post's current address. Stores nothing.

    `only` are ids of the modules to show, if not all. `typed` values of shared content replace the stored ones.
    """
    ids = {module.instance_id for module in document.modules if module.scope == "global"}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    shared = {str(pk): props for pk, props in rows} if ids else {}
    shared |= typed.props
    modules = [
        RenderableModule(
            post_module_id=module.id,
            type=module.type,
            props={**shared.get(module.instance_id, module.props), **module.overrides},
            index=index,
            instance_id=module.instance_id,
        )
        for index, module in enumerate(document.modules)
    ]
    shown = copy(post)
    for name, column in post_repository.COLUMNS.items():
        if name in document.fields and name not in _UNSHOWN_FIELDS:
            setattr(shown, column, post_repository.column_value(name, document.fields[name]))
    shown.custom_fields = document.custom_fields
    if shown.featured_media_id and not media_exists(str(shown.featured_media_id)):
        shown.featured_media = None  # staged, and deleted since
    if post.variation_of is not None:
        # A variation has no address, so show it at the original's.
        shown = with_place_of_original(shown, post.variation_of)
    terms = list(Term.objects.filter(pk__in=document.taxonomy_term_ids))
    for term in terms:
        term.name = typed.term_names.get(str(term.pk), term.name)
    bar = PreviewBar(f"{gettext('Preview')}: {label}", get_language() or post.locale)
    content = PageContent(
        post=shown,
        modules=[one for one in modules if only is None or one.post_module_id in only],
        terms=terms,
        preview=bar if label else None,
        menus=typed.menus,
        author_names=load_author_names(post_repository.authors_of(document)),
    )
    return page_of(content)


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
"""The start of a module, as written by `proofroom_apps.website.rendering`.

Texts cannot match: their quotes are escaped.
"""


def marks_of(changes: Changes) -> dict[str, tuple[str, ...]]:
    """Return the kinds of change of each remaining module, by its id: any of `WORDS`, each once."""
    found: dict[str, dict[str, None]] = {}
    for change in changes:
        if change.module_id is not None and change.kind in WORDS:
            found.setdefault(change.module_id, {})[change.kind] = None
    return {id_: tuple(kinds) for id_, kinds in found.items()}


def list_removed_modules(changes: Changes) -> list[Change]:
    return [change for change in changes if change.kind == "removed"]


def outline_changes(
    page: str, marks: Mapping[str, tuple[str, ...]], notes: Mapping[str, str] | None = None
) -> str:
    """Return the page with its changed modules outlined. Its links open outside of the frame.

    `notes`: words shown at a corner of modules, by their id.
    """
    words = notes or {}

    def mark(found: re.Match[str]) -> str:
        # Add attributes, not elements, so that the module's CSS still matches.
        note = format_html(' data-note="{}"', words[found[1]]) if found[1] in words else ""
        kinds = marks.get(found[1])
        if not kinds:
            return found[0] + note
        label = " · ".join(str(WORDS[kind]) for kind in kinds)
        return (
            found[0]
            + note
            + format_html(
                ' data-change="{}" data-change-label="{}" role="group" aria-label="{}"',
                kinds[0],
                label,
                label,
            )
        )

    added = format_html(
        '<base target="_blank"><link rel="stylesheet" href="{}">\n</head>', static(STYLESHEET)
    )
    return _MODULE.sub(mark, page).replace("</head>", added, 1)


def add_empty_note(page: str) -> str:
    """Return the page with a sentence in place of its modules."""
    note = format_html(
        '<p class="preview-empty" lang="{}">{}</p></main>',
        get_language() or "en",
        gettext("No module changed."),
    )
    return page.replace("</main>", note, 1)
