"""The merged text of a comparison as HTML. All text is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext

from content.comparison.characters import draw_changed, draw_space, visible_context
from content.comparison.difference_text import Note
from content.document.differences import Segment
from content.find_replace.hits import Hit
from content.presenters.cards import ShownLine

register = template.Library()
_HIDDEN = '<span class="visually-hidden">'


@register.filter
def merged(segments: Iterable[Segment]) -> SafeString:
    """Return unchanged, removed and inserted text as HTML; the middle of long unchanged text is collapsed.

    Invisible characters are shown by name, and a change of white space alone is made visible.
    """
    begins = _begins(get_language())
    # Joined without `format_html`, which is too slow for thousands of parts per page. Each part is escaped.
    return SafeString("".join([_one(segment, begins) for segment in segments]))


@register.filter
def drawn_line(line: ShownLine) -> SafeString:
    """Return a plain line as in `admin/cms/line.html`, at a tenth of the cost: a page has hundreds."""
    place = f'<p class="line-place">{escape(line.place)}</p>' if line.place else ""
    code = " block-code" if line.is_code else ""
    role = f'<span class="role">{escape(line.role)}</span>' if line.role else ""
    words = f'<span class="block-text">{merged(line.segments)}</span>' if line.segments else ""
    notes = f'<ul class="facts">{listed(line.notes)}</ul>' if line.notes else ""
    return SafeString(
        f'{place}<div class="block block-{escape(line.status)}{code}">{role}{words}{notes}</div>'
    )


@register.filter
def listed(notes: Iterable[Note]) -> SafeString:
    """Return notes on a change as list items."""
    return SafeString("".join([_item(note) for note in notes]))


def _item(note: Note) -> str:
    loud = " loud" if note.is_loud else ""
    place = f'<span class="fact-place">{escape(note.place)}:</span> ' if note.place else ""
    about = f' <q class="fact-about">{escape(note.about)}</q>' if note.about else ""
    kind = escape(note.kind)
    return (
        f'<li class="fact fact-{kind}{loud}" dir="auto" data-kind="{kind}">'
        f"{place}{escape(note.text)}{about}</li>"
    )


@register.filter
def replaced(hit: Hit) -> SafeString:
    """Return a hit of find and replace in its context, with visible white space."""
    begins = _begins(get_language())
    changed = [
        f"{begins[kind]}{escape(draw_changed(text, is_whole=True))}{_HIDDEN}] </span></{tag}>"
        for kind, tag, text in (("removed", "del", hit.old), ("inserted", "ins", hit.new))
        if text
    ]
    lead, tail = escape(visible_context(hit.lead)), escape(visible_context(hit.tail))
    return SafeString("".join([lead, *changed, tail]))


@lru_cache
def _begins(_language: str | None) -> Mapping[str, str]:
    """Return the start tags of changed text in the current language. `_language` is the cache key."""
    words = {"inserted": ("ins", gettext("inserted:")), "removed": ("del", gettext("removed:"))}
    return {
        kind: f"<{tag}>{_HIDDEN}[{escape(label)} </span>" for kind, (tag, label) in words.items()
    }


def _one(segment: Segment, begins: Mapping[str, str]) -> str:
    if segment.is_folded:
        count = segment.hidden_words
        words = ngettext("… %(count)s unchanged word …", "… %(count)s unchanged words …", count)
        return format_html(
            '{}<details class="same-text"><summary>{}</summary>{}</details>{}',
            visible_context(segment.head),
            words % {"count": count},
            visible_context(segment.middle),
            visible_context(segment.tail),
        )
    if segment.kind == "same":
        return escape(visible_context(segment.text))
    end = "ins" if segment.kind == "inserted" else "del"
    text = segment.text
    visible = draw_changed(text) if text.strip() else draw_space(text)
    return f"{begins[segment.kind]}{escape(visible)}{_HIDDEN}] </span></{end}>"
