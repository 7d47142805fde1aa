"""Renders the waiting changes of the inbox."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from django import template
from django.template.base import Template
from django.template.context import Context
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from content.templatetags.merged_text import drawn_line
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.row_templates import cached_stamp
from proofroom_apps.editorial.inbox.queue_rows import QueueRow
from proofroom_apps.editorial.posts.authors import reason_label

register = template.Library()
_MAX_REASON_LENGTH = 140
"""Maximum length of a reason in a line, in characters; its review shows all."""


@register.simple_tag(takes_context=True)
def inbox_lines(context: Context, lines: Iterable[QueueRow]) -> SafeString:
    """Return each change with its difference, author and decision."""
    stamp = cached_stamp("admin/inbox_line.html")
    return SafeString(
        "".join(
            stamp.fill(
                {
                    "layer": line.layer,
                    "risk": line.risk,
                    "is_accepted": line.word == "accept",
                    "is_rejected": line.word == "reject",
                    "may_take": line.may_take,
                    "may_reject": line.may_reject,
                    "must_be_opened": line.must_be_opened,
                    "is_proposed": line.is_proposed,
                    "is_unpublished": line.is_unpublished,
                    "is_ai": line.row.is_ai,
                    "is_edited": bool(line.row.edited_by_name),
                    "has_said": bool(line.row.reason),
                    "has_path": bool(line.post.path) and not line.is_proposed,
                },
                {
                    "id": str(line.row.pk),
                    "risk_word": line.risk_word,
                    "url": line.url,
                    "title": line.title,
                    "place": line.place,
                    "difference": _difference(context, line),
                    "reasons": format_html_join(
                        "", '<span class="why">{}</span>', ((reason,) for reason in line.reasons)
                    ),
                    "type": line.type,
                    "language": language_name(line.post.locale),
                    "path": line.post.path,
                    "who": line.who,
                    "edited_by": line.row.edited_by_name,
                    "said": Truncator(line.row.reason).chars(_MAX_REASON_LENGTH),
                    "said_label": reason_label(line.row.via),
                    "at": timezone.localtime(line.at).isoformat(),
                    "exact": exact_time(line.at),
                    "age": line.age,
                    "name": line.name,
                    "reject_name": line.reject_name,
                },
            )
            for line in lines
        )
    )


def _difference(context: Context, line: QueueRow) -> SafeString:
    """Return the output of `admin/cms/wait_diff.html`, without rendering it for plain lines."""
    if line.more or line.is_cut or not all(one.is_plain for one in line.first):
        engine = cast(Template, context.template).engine
        with context.push(line=line):
            return engine.get_template("admin/cms/wait_diff.html").render(context)
    drawn = "".join(map(drawn_line, line.first))
    return SafeString(f'<div class="wait-diff diff blocks" dir="auto">{drawn}</div>')
