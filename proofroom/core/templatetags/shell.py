"""The frame of the admin in templates: navigation, icons, and display preferences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from django import template
from django.contrib.messages import INFO, SUCCESS
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from proofroom.core.admin.navigation import (
    Navigation,
    NavigationLink,
    build_navigation,
    build_tabs,
)

register = template.Library()
NAVIGATION_COOKIE = "admin_navigation"
"""Set by `static/cms/design/shell.js`. Read on the server, so that the page does not shift after loading."""
OPEN_LISTS_COOKIE = "admin_navigation_lists"
"""Which lists of the navigation are open. Set and read like the one above."""
SIDEBAR_COOKIE = "editor_sidebar"
"""Set by `static/cms/editor/editor.js`: whether the post editor shows its sidebar."""
THEME_COOKIE = "admin_theme"
"""The theme last chosen in this browser, for the login page."""
THEMES = ("auto", "light", "dark")


@register.simple_tag(takes_context=True)
def admin_navigation(context: Context) -> Navigation:
    """Return the navigation of the page."""
    request: HttpRequest | None = context.get("request")
    return build_navigation(request) if request is not None else Navigation([], [], [])


@register.simple_tag(takes_context=True)
def open_navigation_lists(context: Context) -> list[str]:
    """Return the lists of the navigation that this browser left open: `more`, `settings`."""
    request: HttpRequest | None = context.get("request")
    return request.COOKIES.get(OPEN_LISTS_COOKIE, "").split(".") if request is not None else []


@register.simple_tag(takes_context=True)
def admin_tabs(context: Context) -> list[NavigationLink]:
    """Return the tabs of this page."""
    request: HttpRequest | None = context.get("request")
    return build_tabs(request) if request is not None else []


@register.simple_tag(takes_context=True)
def is_navigation_collapsed(context: Context) -> bool:
    request: HttpRequest | None = context.get("request")
    return request is not None and request.COOKIES.get(NAVIGATION_COOKIE) == "icons"


@register.simple_tag(takes_context=True)
def is_sidebar_hidden(context: Context) -> bool:
    request: HttpRequest | None = context.get("request")
    return request is not None and request.COOKIES.get(SIDEBAR_COOKIE) == "hidden"


@register.simple_tag(takes_context=True)
def admin_theme(context: Context) -> str:
    """Return the user's theme: `auto`, `light` or `dark`."""
    preferences = getattr(context.get("user"), "preferences", None)
    if preferences is not None:
        return str(preferences.theme)
    request: HttpRequest | None = context.get("request")
    theme = request.COOKIES.get(THEME_COOKIE, "") if request is not None else ""
    return theme if theme in THEMES else "auto"


@register.simple_tag
@lru_cache(512)
def icon(name: str) -> SafeString:
    """Return a decorative symbol of `static/cms/design/icons.svg`, hidden from screen readers.

    Cached, because a page has many, and the URL of the file is constant while the process runs.
    """
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("cms/design/icons.svg"),
        name,
    )


@register.filter
def without_number(label: str) -> str:
    """Return the label of an action for any number of rows: "Publish…" for "Publish {number}…"."""
    text = label.replace(" {number}…", "…").replace("{number} ", "").replace("{number}", "")
    return text[:1].upper() + text[1:]


@register.filter
def initials(name: object) -> str:
    """Return one or two initials for a user's avatar."""
    words = re.split(r"[\s._@-]+", str(name).strip())
    return "".join(word[:1] for word in (words[0], *words[1:][-1:])).upper()


@register.simple_tag
def toasts_of(messages: Iterable[Message]) -> list[Message]:
    """Return the messages that only confirm an action and may disappear."""
    return [message for message in messages if message.level in (INFO, SUCCESS)]


@register.simple_tag
def banners_of(messages: Iterable[Message]) -> list[Message]:
    """Return the messages that need attention and stay."""
    return [message for message in messages if message.level not in (INFO, SUCCESS)]
