"""Renders the cards of a review. A page can have hundreds, which differ in texts and a few switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote

from django import template
from django.template.base import Template
from django.template.context import Context
from django.utils.safestring import SafeString

from content.presenters.cards import DiffStretch
from content.store.layer_state import clean_reason
from content.templatetags.merged_text import drawn_line
from proofroom.core.row_templates import RowTemplate, cached_stamp
from proofroom_apps.editorial.posts.authors import reason_label
from proofroom_apps.editorial.review.cards import ReviewCard, ReviewGroup

register = template.Library()
_NOTHING = SafeString("")


@register.simple_tag
def review_rail(groups: Iterable[ReviewGroup]) -> SafeString:
    """Return the list of all changes beside the cards."""
    names, items = (
        cached_stamp("admin/cms/rail_group.html"),
        cached_stamp("admin/cms/rail_item.html"),
    )
    parts: list[str] = []
    for group in groups:
        parts += [
            names.fill(
                {"is_module": group.is_module, "is_locked": group.is_locked},
                {"name": group.name, "module_id": group.module_id},
            ),
            "\n<ol>",
            *(
                items.fill(
                    {"decision": shown.decision, "is_flagged": shown.card.is_flagged},
                    {"path": shown.card.path, "label": shown.card.short},
                )
                for shown in group.cards
            ),
            "</ol>",
        ]
    return SafeString("".join(parts))


@register.simple_tag(takes_context=True)
def review_groups(context: Context, groups: Iterable[ReviewGroup]) -> SafeString:
    """Return the cards of each module below its name.

    Reads `may_take`, `may_reject`, `is_split`, `edit_url`, `comments_url` and `view` from the context.
    """
    heads, cards = _stamp(context, "group_head"), _CardDrawer(context)
    parts: list[str] = []
    for number, group in enumerate(groups, 1):
        head = heads.fill(
            {"count": len(group.cards), "is_locked": group.is_locked},
            {"name": group.name, "number": str(number)},
        )
        parts += [
            '<details class="group" open>\n',
            head,
            *map(cards.draw, group.cards),
            "</details>",
        ]
    return SafeString("".join(parts))


class _CardDrawer:
    """Renders the cards of a page. Rare parts have separate templates."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._engine = cast(Template, context.template).engine
        self._cards = cached_stamp("admin/cms/card.html")
        self._who, self._when = (_stamp(context, name) for name in ("who", "when"))
        self._of_page = {
            "may_take": bool(context["may_take"]),
            "may_reject": bool(context["may_reject"]),
            "layer": context["view"].layer,
            "can_comment": bool(context.get("comments_url")),
        }
        self._edit_url = str(context["edit_url"])
        self._comments_url = str(context.get("comments_url", ""))
        self._is_split = bool(context["is_split"])
        self._moments: dict[datetime | None, SafeString] = {}

    def draw(self, shown: ReviewCard) -> SafeString:
        card, again = shown.card, shown.again
        warnings = _NOTHING
        if shown.was or card.flags or card.rules or shown.rejected is not None:
            warnings = self._render("card_warnings", shown=shown, card=card)
        if shown.advice:
            warnings += self._render("card_advice", advice=shown.advice)
        return self._cards.fill(
            {
                **self._of_page,
                "decision": shown.decision,
                "flagged_by": card.flagged_by,
                "is_in_module": card.is_in_module,
                "has_length": bool(card.length),
                "has_summary": bool(card.summary),
                "can_edit": shown.can_edit,
                "can_ask": again is not None,
            },
            {
                "path": card.path,
                "edit_url": self._edit_url,
                "comments_url": self._comments_url,
                "query_path": quote(card.path, safe=""),
                "seen": shown.seen,
                "module_id": card.module_id,
                "label": card.label,
                "note": shown.note,
                "warnings": warnings,
                "length": card.length,
                "summary": card.summary,
                "body": self._body(shown),
                "ask_url": again.url if again is not None else "",
                "ask_label": again.label if again is not None else "",
                "who": self._author(shown),
            },
        )

    def _body(self, shown: ReviewCard) -> SafeString:
        body = self._difference(shown)
        if shown.source is None:
            return body
        return self._render("card_source", source=shown.source, card=shown.card, body=body)

    def _difference(self, shown: ReviewCard) -> SafeString:
        if self._is_split:
            return self._render("split", shown=shown, card=shown.card)
        stretches = shown.card.stretches
        return render_difference(stretches) or self._render(
            "difference", shown=shown, card=shown.card, stretches=stretches
        )

    def _author(self, shown: ReviewCard) -> SafeString:
        mark = shown.card.mark
        if mark is None:
            return _NOTHING
        return self._who.fill(
            {
                "is_ai": shown.is_ai,
                "run": shown.run,
                "agent_id": mark.agent_id,
                "user": mark.user,
                "edited_by": mark.edited_by,
                "door": shown.door,
                # An AI client's note on submitting is stored as the reason too. Show it once.
                "note": mark.note if clean_reason(mark.note) != mark.reason else "",
                "reason": mark.reason,
                "reason_label": reason_label(mark.via),
                "is_dated": shown.is_dated,
            },
            {"label": shown.card.label, "when": self._moment(shown.at)},
        )

    def _moment(self, at: datetime | None) -> SafeString:
        if at not in self._moments:
            self._moments[at] = self._when.fill({"at": at}, {})
        return self._moments[at]

    def _render(self, name: str, **values: Any) -> SafeString:
        with self._context.push(**values):
            return self._engine.get_template(f"admin/cms/{name}.html").render(self._context)


def render_difference(stretches: Sequence[DiffStretch]) -> SafeString | None:
    """Return the output of `admin/cms/difference.html`, or None if it has more than plain lines."""
    lines = [line for stretch in stretches for line in stretch.lines]
    if not all(line.is_plain for line in lines) or any(one.is_folded for one in stretches):
        return None
    return SafeString(
        f'<div class="diff blocks" dir="auto">{"".join(map(drawn_line, lines))}</div>'
    )


def _stamp(context: Context, name: str) -> RowTemplate:
    return RowTemplate(f"admin/cms/{name}.html", context.new())
