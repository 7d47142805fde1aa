"""The actor: somebody who does something, and the door it came through. Every service takes one."""

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
    """Somebody who has no account, and no rights."""

    pk: int = None  # type: ignore[assignment]  # what records an actor stores nobody
    email: str = ""
    username: str = "visitor"
    role: str = "visitor"
    is_active: bool = True
    scopes: tuple[ContentScope, ...] = ()

    def has_perm(self, perm: str, obj: Model | None = None) -> bool:
        return False


SYSTEM: Final = Visitor(username="system", role="system")
"""The site itself, where nobody asked."""


MAX_HOPS: Final = 3
"""Events and runs that follow one from another; beyond, nothing starts: two could call each other for ever."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A user acting through a door.

    `agent_id` and `run_id` name the agent and its run where the words come from one; `names_agent` says that an AI
    client chose that agent, rather than that its account stands in for a client without one. `token_id` names the
    API token that a program calls with in a person's name, `principal` the credential of an AI client.
    `permissions`, where set, and `limited_to` narrow the user's own rights and never widen them; what is limited to a
    part of the content has no right that holds for the whole site. `event_id` and `hop` carry the cause chain of work
    that an event started.

    An agent's run is narrowed further, and hands that on to the runs it starts: `tools`, where set, are the only
    ones it may call; outside of the translation group `confined_to` it may propose nothing; once it has read what
    visitors or other sites wrote (`has_read_untrusted`) it may only read.

    `diagnoses`: the operator or an administrator granted this credential the diagnostics tools, whatever its
    user's role; the grant counts in `require_diagnosis` and nowhere else.
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
        """All that limit the rights to a part of the content: those of the user, and of what opened the door."""
        return (*self.user.scopes, *self.limited_to)

    @property
    def credential(self) -> str:
        """What opened the door, where it was no session: never the secret itself."""
        if self.token_id is not None:
            return f"token:{self.token_id}"
        return f"mcp:{self.principal}"[:100] if self.principal else ""

    @property
    def is_person(self) -> bool:
        """Whether a person acts here: not an agent, not an AI client, not an account made for one."""
        return (
            self.via not in ("mcp", "agent")
            and self.agent_id is None
            and self.user.role != "ai_agent"
        )

    @property
    def is_session(self) -> bool:
        """Whether the person is here themselves, rather than a program with their API token."""
        return self.is_person and self.token_id is None

    def can(self, permission: str, thing: Model | None = None) -> bool:
        """The one question about rights; with a thing, whether they hold for it, too."""
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
        """Raise `NotAllowed` unless the actor has the permission, with a thing also for it."""
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
        """Keep agents and AI clients out of Review and live content, whatever their user may do."""
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
        """Keep programs out of what a person must do themselves, whatever their token may do."""
        self.require_person(what)
        if not self.is_session:
            raise NotAllowed(
                _("Only a logged-in person can %(what)s; an API token cannot.") % {"what": what},
                code="session_required",
            )

    def require_inside(self, translation_group: UUID | None) -> None:
        """Keep a run that works on a post from proposing anything for another; None is a post that is to be made."""
        if self.confined_to is not None and translation_group != self.confined_to:
            raise NotAllowed(
                _("This run can only propose changes to one post and its translations."),
                code="outside_of_run",
            )

    def as_account(
        self, user: ActorUser, *, agent_id: str | None, limits: Collection[ContentScope]
    ) -> Actor:
        """The same door in another account's name, within all that limits this one, and within `limits` too."""
        return replace(self, user=user, agent_id=agent_id, limited_to=(*self.scopes, *limits))

    def as_agent(self, agent_id: str, run_id: str | None = None) -> Actor:
        """The same actor, speaking for an agent."""
        return replace(self, agent_id=agent_id, run_id=run_id)
