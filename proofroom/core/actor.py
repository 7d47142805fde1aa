"""The actor of a service call: a user and the channel of the request. Every service takes one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol
from uuid import UUID

from django.db.models import Model
from django.utils.translation import gettext as _

from proofroom.core.content_scope import WHOLE_SITE, ContentScope, is_in_scopes, scopes_for
from proofroom.core.errors import NotAllowed

Via = Literal["admin", "api", "mcp", "agent", "command", "system", "site"]


class ActorUser(Protocol):
    """The properties of a user that an actor needs."""

    pk: int
    email: str
    username: str
    role: str
    is_active: bool

    @property
    def scopes(self) -> Collection[ContentScope]: ...

    def has_perm(self, perm: str, obj: Model | None = None) -> bool: ...


@dataclass(slots=True)
class Visitor:
    """A user without an account and without rights."""

    pk: int = None  # type: ignore[assignment]  # the outbox stores no actor for it
    email: str = ""
    username: str = "visitor"
    role: str = "visitor"
    is_active: bool = True
    scopes: tuple[ContentScope, ...] = ()

    def has_perm(self, perm: str, obj: Model | None = None) -> bool:
        return False


SYSTEM: Final = Visitor(username="system", role="system")
"""The site itself: work that no user started."""


MAX_HOPS: Final = 3
"""Longest chain of events and runs that start each other. The limit ends loops of two that start each other."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A user acting through a channel.

    `agent_id` and `run_id` name the agent and its run, if an agent wrote the content. `names_agent` is True if an AI
    client chose that agent; False if the agent's account only represents a client without one. `token_id` names the
    API token that a program uses on behalf of a person, `principal` the credential of an AI client. `permissions` (if
    set) and `limited_to` reduce the user's own rights and never extend them; an actor limited to a part of the
    content has no permission that covers the whole site. `event_id` and `hop` are the cause chain of work that an
    event started.

    An agent's run has further limits, which the runs it starts inherit: `tools` (if set) are the only tools it may
    call, `confined_to` is the only translation group it may propose changes to, and after reading text from visitors
    or other sites (`has_read_untrusted`) it may only read.

    `diagnoses` is True if the operator or an administrator granted this credential the diagnostics tools. Only
    `require_diagnosis` checks it.
    """

    user: ActorUser
    via: Via
    agent_id: str | None = None
    run_id: str | None = None
    names_agent: bool = False
    token_id: str | None = None
    permissions: frozenset[str] | None = None
    event_id: int | None = None
    hop: int = 0
    principal: str = ""
    tools: frozenset[str] | None = None
    confined_to: UUID | None = None
    has_read_untrusted: bool = False
    diagnoses: bool = False
    limited_to: tuple[ContentScope, ...] = ()

    @property
    def scopes(self) -> Collection[ContentScope]:
        """All limits to a part of the content: the user's and the credential's."""
        return (*self.user.scopes, *self.limited_to)

    @property
    def credential(self) -> str:
        """The identifier of the token or client, empty for a session. Never the secret itself."""
        if self.token_id is not None:
            return f"token:{self.token_id}"
        # 100 is the length of the column `Event.credential`.
        return f"mcp:{self.principal}"[:100] if self.principal else ""

    @property
    def is_person(self) -> bool:
        """True for a person: not an agent, not an AI client, not an account made for one."""
        return (
            self.via not in ("mcp", "agent")
            and self.agent_id is None
            and self.user.role != "ai_agent"
        )

    @property
    def is_session(self) -> bool:
        """True for a logged-in person; False for a program with an API token."""
        return self.is_person and self.token_id is None

    def can(self, permission: str, thing: Model | None = None) -> bool:
        """Return whether the actor has the permission and, if a thing is given, whether it covers the thing."""
        if not self.user.is_active:
            return False
        if self.permissions is not None and permission not in self.permissions:
            return False
        if self.limited_to and permission in WHOLE_SITE:
            return False
        if thing is None:
            return self.user.has_perm(permission)
        return self.user.has_perm(permission, thing) and is_in_scopes(
            thing, scopes_for(permission, self.limited_to)
        )

    def require(self, permission: str, thing: Model | None = None) -> None:
        """Raise `NotAllowed` unless the actor has the permission; with a thing, also for that thing."""
        # Distinguish a missing permission from content outside of the scope: the user can act on
        # the difference.
        if thing is not None and self.can(permission) and not self.can(permission, thing):
            raise NotAllowed(
                _("Your role does not cover this content."),
                code="outside_of_scope",
            )
        if not self.can(permission):
            whose = "this token" if self.token_id else self.user.role
            raise NotAllowed(
                _("This needs the permission %(permission)r, which %(whose)s does not have.")
                % {"permission": permission, "whose": whose},
                details={"permission": [permission]},
            )

    def require_diagnosis(self, permission: str) -> None:
        """Raise `NotAllowed` unless the credential was granted diagnostics, or the actor has the permission."""
        if not (self.diagnoses and self.user.is_active):
            self.require(permission)

    def require_person(self, what: str) -> None:
        """Raise `NotAllowed` for agents and AI clients, whatever permissions their user has.

        Guards Review and live content.
        """
        if not self.is_person:
            raise NotAllowed(
                _(
                    "Only a person can %(what)s. Agents and AI clients propose "
                    "changes in AI Review; a person approves them in the admin."
                )
                % {"what": what},
                code="person_required",
            )

    def require_session(self, what: str) -> None:
        """Raise `NotAllowed` for anything but a logged-in person, whatever permissions the token has."""
        self.require_person(what)
        if not self.is_session:
            raise NotAllowed(
                _("Only a logged-in person can %(what)s; an API token cannot.") % {"what": what},
                code="session_required",
            )

    def require_inside(self, translation_group: UUID | None) -> None:
        """Raise `NotAllowed` if the run is confined to another translation group. None is a post to be created."""
        if self.confined_to is not None and translation_group != self.confined_to:
            raise NotAllowed(
                _("This run can only propose changes to one post and its translations."),
                code="outside_of_run",
            )

    def as_account(
        self, user: ActorUser, *, agent_id: str | None, limits: Collection[ContentScope]
    ) -> Actor:
        """Return the actor for another account on the same channel, with the limits of both and `limits`."""
        return replace(self, user=user, agent_id=agent_id, limited_to=(*self.scopes, *limits))

    def as_agent(self, agent_id: str, run_id: str | None = None) -> Actor:
        """Return the actor acting as an agent."""
        return replace(self, agent_id=agent_id, run_id=run_id)
