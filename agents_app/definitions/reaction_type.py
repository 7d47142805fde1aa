"""Base class of reaction types: the config in an agent's file, and the request built from it.

    class Ticket(ReactionType["Ticket.Config"]):
        name = "ticket"
        ...

Classes in `<app>/reaction_types/*.py` are found automatically.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext

from proofroom.core.definition_files import DefinitionPart
from proofroom.core.json import JsonObject
from proofroom.core.registry import Registry
from proofroom.webhooks.delivery_channels import OutgoingRequest

if TYPE_CHECKING:
    from django.utils.functional import Promise

    from agents_app.models import AgentRun
    from proofroom.webhooks.models import Delivery

TOOL: Final = "mcp_tool"
"""The type that calls a tool of this site instead of another system."""
NAME_MAX: Final = 40
C = TypeVar("C", bound=DefinitionPart)


class ReactionType(ABC, Generic[C]):
    """A type of reaction that calls another system. Its requests are delivered like webhooks: with the
    address guard, in order, with retries, listed, and with manual resending.

    `name` is the `type` in an agent's file, `Config` the schema of its `config`. Check URLs in it
    with `proofroom.webhooks.rules.check_declared_url`, placeholders with
    `reaction_templates.check_template`.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    Config: type[C]

    @abstractmethod
    def target(self, config: C) -> str:
        """Return the target as shown to users: of a URL only the host."""

    @abstractmethod
    def build_request(
        self, config: C, values: JsonObject, run: AgentRun, delivery: Delivery
    ) -> OutgoingRequest:
        """Return the request for a run. `values`: the values of placeholders. Raises `NothingToSend`."""


_found: Final[Registry[ReactionType[Any]]] = Registry("reaction_types", ReactionType)  # type: ignore[type-abstract]  # never made


@cache
def reaction_types() -> Mapping[str, ReactionType[Any]]:
    """Return all types by name, with the types that apps add. Raises `ImproperlyConfigured` for an invalid name."""
    for one in _found:
        if one.name == TOOL or not re.fullmatch(r"[a-z][a-z0-9_]*", one.name[:NAME_MAX]):
            raise ImproperlyConfigured(
                f"{one.__module__}: {one.name!r} is already defined, or has characters other than a-z, 0-9 and _."
            )
        if len(one.name) > NAME_MAX:
            raise ImproperlyConfigured(
                f"{one.__module__}: {one.name!r} has more than {NAME_MAX} characters."
            )
    return {one.name: one() for one in _found}


def reaction_label(name: str) -> str:
    """Return the label of a type; for an unknown type its name."""
    if name == TOOL:
        return gettext("Tool")
    found = reaction_types().get(name)
    return str(found.label) if found is not None else name


def reaction_names() -> list[str]:
    """Return the valid values of `type` in an agent's file."""
    return [*reaction_types(), TOOL]
