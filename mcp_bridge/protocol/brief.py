"""The editorial brief for AI clients: in the guidelines, and once in the answers to their calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from mcp_bridge.access.principals import Principal, actor_for
from proofroom.briefs.effective import get_effective_brief
from proofroom.briefs.services import VIEW
from proofroom.briefs.tools import TOOL_NAME
from proofroom.core.actor import Actor
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.errors import CmsError

GUIDELINES: Final = """\
# Proposing content

- Three layers: live, Review, AI Review. You write AI Review only. A person reviews every change,
  field by field, and approves it.
- The editorial brief says how this site writes; it ranks above your habits. `get_editorial_brief`
  has the one for a post type and language.
- Read before you write: `get_post_context` for the post, `get_module_schema` for the props of a
  module, `get_post_type_config` for fields, templates and limits.
- Prefer the post's existing modules. Change what the task asks for and leave the rest: every path
  you stage is a path that a person must judge.
- Start a new post with `create_post_ai_review` and a module group; fill its modules through
  `moduleEdits`.
- Locked modules stay where they are; their props may change.
- Translate text, not structure: only the props marked `translatable`.
- Alternative text says what an image shows. Links name their target. Headings follow in order.
- Write no facts that are in neither the task nor the content; ask, or leave a gap and say so.
- When the proposal is complete, call `submit_ai_review_to_review` with a `note` on what changed
  and why.
- On a conflict the person's value stays. Read the post again and make a new proposal.
"""
HOUR: Final = 3600
_SESSION_KEY: Final = "cms.has_brief"
EMPTY_SECONDS: Final = 1.0
"""Seconds for which a process trusts that the site has no brief, so that this costs no query for each call."""
BriefSource = Callable[[Actor, str], str]
"""Returns the brief that an answer to this actor by this tool carries; mostly an empty text."""


def site_brief(actor: Actor) -> str:
    """Return the brief of the whole site as Markdown. One query.

    Empty without a brief, or if the actor may not read it.
    """
    if not actor.can(VIEW):
        return ""
    return get_effective_brief(post_type=None, locale=None).to_markdown()


def guidelines_for(principal: Principal) -> str:
    """Return the guidelines with the brief of the site. At most two queries."""
    try:
        brief = site_brief(actor_for(principal))
    except CmsError:
        # Without an account the rules are still useful, and no secret.
        brief = ""
    return f"{GUIDELINES}\n{brief}" if brief else GUIDELINES


def current_hour() -> int:
    """Return the number of the present hour."""
    return int(time.time() // HOUR)


class Receiver(Protocol):
    """A session, or a credential without sessions, that gets the brief once."""

    def has_brief(self) -> bool:
        """Return True if it is known to have the brief."""

    def claim(self) -> bool:
        """Note that it has the brief now. Returns False if it had it already."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session; `state` lives as long as it."""

    state: dict[str, Any]

    def has_brief(self) -> bool:
        return _SESSION_KEY in self.state

    def claim(self) -> bool:
        is_first = not self.has_brief()
        self.state[_SESSION_KEY] = True
        return is_first


class Credentials:
    """The credentials of this process that got the brief in the present hour."""

    def __init__(self) -> None:
        self._hour = 0
        self._ids: set[str] = set()

    def of_hour(self) -> set[str]:
        hour = current_hour()
        if hour != self._hour:
            self._hour, self._ids = hour, set()
        return self._ids


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential. It gets the brief once in an hour of the clock, from whichever process answers first."""

    id: str
    known: Credentials

    def has_brief(self) -> bool:
        # Known without asking Redis, which would cost more than most calls.
        return self.id in self.known.of_hour()

    def claim(self) -> bool:
        self.known.of_hour().add(self.id)
        return count_hit(f"mcp-brief:{self.id}:{current_hour()}", 2 * HOUR) == 1


class FirstAnswers:
    """Adds the brief of the site to the first answer of each receiver."""

    def __init__(self) -> None:
        self._credentials = Credentials()
        self._is_empty_until = 0.0

    def for_session(self, state: dict[str, Any]) -> BriefSource:
        """Return the source for a session, whose `state` lives as long as it."""
        return partial(self._brief_for, Session(state))

    def for_credential(self, principal_id: str) -> BriefSource:
        """Return the source for calls that belong to no session."""
        return partial(self._brief_for, Credential(principal_id, self._credentials))

    def _brief_for(self, receiver: Receiver, actor: Actor, tool: str) -> str:
        """Return the brief for an answer; empty if the receiver has it, or if there is none. At most one query."""
        if receiver.has_brief():
            return ""
        if tool == TOOL_NAME:  # its answer is the brief
            receiver.claim()
            return ""
        if time.monotonic() < self._is_empty_until:
            return ""
        brief = site_brief(actor)
        if brief:
            return brief if receiver.claim() else ""
        if actor.can(VIEW):
            self._is_empty_until = time.monotonic() + EMPTY_SECONDS
        return ""
