"""The merged text of a diff as HTML. Every word of it is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from content.review.diff import Segment

register = template.Library()
_HIDDEN = '<span class="visually-hidden">'


@register.filter
def merged(segments: Iterable[Segment]) -> SafeString:
    """What stays, what goes and what comes; the middle of a long unchanged stretch is folded away."""
    words = {"ins": escape(gettext("inserted:")), "del": escape(gettext("removed:"))}
    # Joined by hand, each part escaped: a page has thousands of them.
    return SafeString("".join(_one(segment, words) for segment in segments))


def _one(segment: Segment, words: dict[str, SafeString]) -> str:
    if segment.is_folded:
        return _folded(segment)
    text = escape(segment.text)
    if segment.kind == "same":
        return text
    tag = "ins" if segment.kind == "inserted" else "del"
    return f"<{tag}>{_HIDDEN}[{words[tag]} </span>{text}{_HIDDEN}] </span></{tag}>"


def _folded(segment: Segment) -> SafeString:
    count = segment.hidden_words
    words = ngettext("… %(count)s unchanged word …", "… %(count)s unchanged words …", count)
    return format_html(
        '{}<details class="same-text"><summary>{}</summary>{}</details>{}',
        segment.head,
        words % {"count": count},
        segment.middle,
        segment.tail,
    )
