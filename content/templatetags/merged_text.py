"""The merged text of a diff as HTML. Every word of it is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from content.review.diff import Segment

register = template.Library()
_MARK = (
    '<{}><span class="visually-hidden">[{} </span>{}<span class="visually-hidden">] </span></{}>'
)


@register.filter
def merged(segments: Iterable[Segment]) -> SafeString:
    """What stays, what goes and what comes; the middle of a long unchanged stretch is folded away."""
    words = {"ins": gettext("inserted:"), "del": gettext("removed:")}
    return format_html_join("", "{}", ((_one(segment, words),) for segment in segments))


def _one(segment: Segment, words: dict[str, str]) -> SafeString:
    if segment.is_folded:
        return _folded(segment)
    if segment.kind == "same":
        return format_html("{}", segment.text)
    tag = "ins" if segment.kind == "inserted" else "del"
    return format_html(_MARK, tag, words[tag], segment.text, tag)


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
