"""The declaration of a type of reaction: what an agent's file says of it, and the request that it becomes.

    class Ticket(ReactionType["Ticket.Config"]):
        name = "ticket"
        ...

A class in `<app>/reaction_types/*.py` is found by being there.
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
"""The type that calls a tool here, and no other system."""
NAME_MAX: Final = 40
C = TypeVar("C", bound=DefinitionPart)


class ReactionType(ABC, Generic[C]):
    """A type of reaction that calls another system. What it makes is delivered as webhooks are: past the address
    guard, in order, with retries, listed, and sent again by hand.

    `name` is the `type` in an agent's file, `Config` what stands below `config` there. Its addresses are checked
    with `proofroom.webhooks.rules.check_declared_url`, its placeholders with `reaction_templates.check_template`.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    Config: type[C]

    @abstractmethod
    def target(self, config: C) -> str:
        """Whom it calls, as everybody may read it: of an address the host."""

    @abstractmethod
    def build_request(
        self, config: C, values: JsonObject, run: AgentRun, delivery: Delivery
    ) -> OutgoingRequest:
        """The request for a run, whose `values` placeholders name. Raises `NothingToSend`."""


_found: Final[Registry[ReactionType[Any]]] = Registry("reaction_types", ReactionType)  # type: ignore[type-abstract]  # never made


@cache
def reaction_types() -> Mapping[str, ReactionType[Any]]:
    """Every type by name, those of apps too. Raises `ImproperlyConfigured` for a name that cannot be."""
    for one in _found:
        if one.name == TOOL or not re.fullmatch(r"[a-z][a-z0-9_]*", one.name[:NAME_MAX]):
            raise ImproperlyConfigured(
                f"{one.__module__}: {one.name!r} is taken, or is not of small letters, digits and _ only."
            )
        if len(one.name) > NAME_MAX:
            raise ImproperlyConfigured(
                f"{one.__module__}: {one.name!r} has more than {NAME_MAX} characters."
            )
    return {one.name: one() for one in _found}


def reaction_label(name: str) -> str:
    """What people call a type; of one that is gone its name."""
    if name == TOOL:
        return gettext("Tool")
    found = reaction_types().get(name)
    return str(found.label) if found is not None else name


def reaction_names() -> list[str]:
    """What `type` may be in an agent's file."""
    return [*reaction_types(), TOOL]
