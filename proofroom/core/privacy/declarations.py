"""What apps declare in `<app>/personal_data.py`, found by its name:

- `KINDS`: kinds of personal data.
- `WITHOUT_PERSONAL_DATA`: labels of the models that hold nothing about people.
- `RETENTIONS`: how long data is kept.
- `STORED_ITEMS`: what the app stores in browsers.
- `COPIES`: functions that name the places outside of the database to which a person's data was copied.
- `ADDRESSES`: what has an email address, such as an account, with a function that returns the address by its id.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any, Final

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.db.models import EmailField, Field, GenericIPAddressField, Model

from proofroom.core.actor import Actor
from proofroom.core.privacy.browser_storage import StoredItem
from proofroom.core.privacy.kinds import PersonalDataKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention

Copies = Callable[[Person], Iterable[str]]
AddressOf = Callable[[str, Actor], str]
"""Returns the address for an id; empty if there is none, or if the actor may not see it."""
_PERSONAL_NAMES: Final = re.compile(
    r"(?:^|_)(?:e?mail|ip|ip_address|remote_addr|user_agent|phone|mobile|username|nickname"
    r"|(?:first|last|full|by|author|actor|edited_by|approved_by|decided_by|created_by)_name"
    r"|birth(?:day|date|_date)?|street|postcode|iban)$"
)


@cache
def _modules() -> tuple[ModuleType, ...]:
    found = []
    for app in apps.get_app_configs():
        name = f"{app.name}.personal_data"
        try:
            found.append(importlib.import_module(name))
        except ModuleNotFoundError as error:
            # The app has no such module. An import error inside of one must not be hidden.
            if error.name != name:
                raise
    return tuple(found)


def _declared(name: str) -> Iterator[Any]:
    for module in _modules():
        yield from getattr(module, name, ())


@cache
def kinds() -> tuple[PersonalDataKind, ...]:
    """Return all kinds in the order of their erasure."""
    found = sorted(_declared("KINDS"), key=lambda kind: kind.order)
    _require_unique([kind.name for kind in found], "kind of personal data")
    return tuple(found)


def find_kind(name: str) -> PersonalDataKind | None:
    """Return the kind with this name. None if its app was removed."""
    return next((kind for kind in kinds() if kind.name == name), None)


@cache
def retentions() -> tuple[Retention, ...]:
    """Return all retentions, sorted by name."""
    found = sorted(_declared("RETENTIONS"), key=lambda retention: retention.name)
    _require_unique([retention.name for retention in found], "retention")
    return tuple(found)


def days_of(name: str) -> int:
    """Return the days for which this data is kept; 0 keeps it for ever."""
    for retention in retentions():
        if retention.name == name:
            return retention.days
    raise ImproperlyConfigured(f"No app declares the retention {name!r} in its personal_data.py.")


def stored_items() -> list[StoredItem]:
    """Return what the site stores in browsers with its present settings."""
    return [item for item in _declared("STORED_ITEMS") if item.is_used()]


def find_copies(person: Person) -> list[str]:
    """Return sentences that name copies of a person's data outside of the database."""
    functions: Iterator[Copies] = _declared("COPIES")
    return [sentence for function in functions for sentence in function(person)]


def find_address(ids: Mapping[str, str], actor: Actor) -> str:
    """Return the address of the first known object, by its kind and id; empty if the actor may not see it.

    Links name the object: an address in a URL gets into histories and server logs.
    """
    declared: Iterator[tuple[str, AddressOf]] = _declared("ADDRESSES")
    return next((find(ids[name], actor) for name, find in declared if name in ids), "")


def _require_unique(names: Collection[str], what: str) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise ImproperlyConfigured(f"The {what} {name!r} is declared twice.")


def undeclared_models(models: Iterable[type[Model]] | None = None) -> dict[str, list[str]]:
    """Return the columns about people that no kind declares, by the label of their model.

    The list is empty for a model without such columns that no app declares at all.
    """
    by_kinds = {label for kind in kinds() for label in kind.models}
    without = set(_declared("WITHOUT_PERSONAL_DATA"))
    found: dict[str, list[str]] = {}
    for model in models if models is not None else apps.get_models(include_auto_created=True):
        label = model._meta.label
        if model._meta.proxy or label in by_kinds:
            continue
        columns = personal_columns(model)
        if columns or label not in without:
            found[label] = columns
    return found


def personal_columns(model: type[Model]) -> list[str]:
    """Return the names of the columns that look as if they were about people."""
    return [
        field.name
        for field in model._meta.get_fields()
        if isinstance(field, Field) and _is_personal(field)
    ]


def _is_personal(field: Field[Any, Any]) -> bool:
    if isinstance(field, EmailField | GenericIPAddressField):
        return True
    return field.related_model is get_user_model() or bool(_PERSONAL_NAMES.search(field.name))
