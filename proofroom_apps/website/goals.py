"""Goals that visitors reach on the site, such as a submitted form. They are reported to apps above content."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.template.loader import get_template

from content.document.document import ModuleDocument, PostDocument
from proofroom.core.hooks import Hook
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, props_of

_GOAL_MARK: Final = "data-goal"
logger = logging.getLogger(__name__)

goal_listeners: Hook[[HttpRequest, UUID | None, str], None] = Hook()
"""Listeners, called with the visitor's request, the id of the post (or None), and the goal."""


def report_goal(request: HttpRequest, *, post_id: UUID | None, goal: str) -> None:
    """Report a goal to the listeners. Errors of listeners are logged: they must not fail the visitor's request."""
    for listener in goal_listeners:
        try:
            listener(request, post_id, goal)
        # Listeners belong to other apps and may raise anything.
        except Exception:
            logger.exception("cannot count goal %s", goal)


def has_reachable_goal(document: PostDocument) -> bool:
    """Return whether visitors can reach a goal on the page: a placed form, or a marked link with an address."""
    return any(map(_has_goal, document.modules))


def _has_goal(module: ModuleDocument) -> bool:
    definition = modules.get(module.type)
    if definition is None:
        return False
    template = get_template(definition.template())
    # Templates of other engines than Django's have no source here.
    source = str(getattr(getattr(template, "template", None), "source", ""))
    is_marked = _GOAL_MARK in source
    if module.scope != "local":
        # A global module's values are not in the post, so assume a goal if its type allows one.
        return is_marked or "form-reference" in {
            prop.kind for prop in props_of(definition.Props).values()
        }
    kinds = _filled_kinds(definition.Props, module.props)
    return "form-reference" in kinds or (is_marked and bool(kinds & {"link", "url"}))


def _filled_kinds(props: type[ModuleProps], values: Mapping[str, Json]) -> set[str]:
    """Return the kinds of the props with a value, nested ones included."""
    found: set[str] = set()
    for name, prop in props_of(props).items():
        value = values.get(name)
        if not value:
            continue
        found.add(prop.kind)
        if prop.nested is not None:
            items = value if isinstance(value, list) else [value]
            for item in items:
                if isinstance(item, Mapping):
                    found |= _filled_kinds(prop.nested, item)
    return found
