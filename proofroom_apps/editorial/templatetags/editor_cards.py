"""Renders the modules of the editor as cards. A post can have hundreds, most of them closed and similar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from urllib.parse import quote

from django import template
from django.template.base import Template
from django.template.context import Context
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from proofroom.core.row_templates import cached_stamp
from proofroom_apps.editorial.post_editor.module_cards import ModuleCard

register = template.Library()


@register.simple_tag(takes_context=True)
def module_cards(context: Context, cards: Iterable[ModuleCard]) -> SafeString:
    """Return the cards. Reads `may_arrange`, `layer` and the data of open controls from the context."""
    engine = cast(Template, context.template).engine
    stamp = cached_stamp("admin/posts/module.html")
    may_arrange, layer = bool(context.get("may_arrange")), context.get("layer") or ""
    parts: list[str] = []
    for card in cards:
        module, body = card.module, SafeString("")
        # The slow way, with a template: only for cards that show more than a button.
        if card.has_body:
            with context.push(card=card):
                body = engine.get_template("admin/posts/module_body.html").render(context)
        parts.append(
            stamp.fill(
                {
                    "may_arrange": may_arrange,
                    "layer": layer,
                    "is_locked": module.is_locked,
                    "is_known": module.is_known,
                    "is_new": module.is_new,
                    "is_touched": card.is_touched,
                    "is_open": card.is_open or card.has_errors,
                    "is_closed": card.controls is None,
                    "has_errors": card.has_errors,
                    "has_thumbnail": bool(card.thumbnail),
                    "is_shared": bool(module.shared_slug),
                },
                {
                    "id": module.id,
                    "token": module.token,
                    "type": module.type,
                    "icon": quote(card.icon, safe=""),
                    "shared_slug": module.shared_slug,
                    "label": module.label,
                    "lock_reason": card.lock_reason,
                    "summary": card.summary,
                    "facts": format_html_join(
                        "", ' <span class="module-fact">{}</span>', ((fact,) for fact in card.facts)
                    ),
                    "thumbnail": card.thumbnail,
                    "body": body,
                },
            )
        )
    return SafeString("".join(parts))
