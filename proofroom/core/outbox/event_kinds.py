"""The kinds of events: `KINDS` in the `event_kinds.py` of every installed app."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event, and who is told of it.

    `label` is what people read. `permission` is what an account needs to learn that it happened. `version` grows
    with every change of the payload's shape that a receiver would notice.
    """

    name: str
    label: str
    permission: str
    version: int = 1
    is_live: bool = False
    """Whether it changes what visitors see: it makes every cached answer old."""
    is_webhook: bool = False
    """Whether subscribers of webhooks may choose it."""
    is_trigger: bool = False
    """Whether it is a scope that starts agents."""
    is_private: bool = False
    """Whether its payload holds words of visitors, which no log shows."""
    is_internal: bool = False
    """Whether it only hands work on, and is nothing that somebody did."""
    is_progress: bool = False
    """Whether open pages hear of it although it is internal: that something goes on."""


def all_kinds() -> Iterable[EventKind]:
    """Every kind, in order of name."""
    return _kinds().values()


def find_kind(name: str) -> EventKind | None:
    return _kinds().get(name)


def kind_of(name: str) -> EventKind:
    """The kind of that name. Raises `ImproperlyConfigured`: what nobody declared is not recorded."""
    kind = _kinds().get(name)
    if kind is None:
        raise ImproperlyConfigured(f"No app declares the event {name!r} in its event_kinds.py.")
    return kind


@cache
def _kinds() -> dict[str, EventKind]:
    found: dict[str, EventKind] = {}
    for app in apps.get_app_configs():
        module_name = f"{app.name}.event_kinds"
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name == module_name:
                continue
            raise
        for kind in module.KINDS:
            if kind.name in found:
                raise ImproperlyConfigured(f"The event {kind.name!r} is declared twice.")
            found[kind.name] = kind
    return dict(sorted(found.items()))
