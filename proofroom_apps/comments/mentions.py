"""Mentions in comments: `@username` for people, `@agent:<id>` for agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from uuid import UUID

from django.db.models import Case, Model, When
from django.utils.translation import gettext as _

from content.models import Post
from content.store.scopes import can_view
from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import USERNAME_MAX, User
from proofroom.accounts.queries import active_people
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.hooks import Hook
from proofroom.core.i18n.words import MARK, compile_pattern
from proofroom_apps.comments.models import AGENT_ID_MAX, Comment

MAX_MENTIONS: Final = 20
MAX_CHOICES: Final = 8
_MAX_CANDIDATES: Final = 40
"""Accounts that are checked for the list, however many a search finds."""
MAX_AGENTS: Final = 3
"""Largest number of agents in one comment, because each starts a run that costs money."""
_NAME: Final = rf"[\w{MARK}\u200c\u200d.@+-]"
# Without a character of a name before it: an address such as mira@example.com mentions nobody.
_MENTION: Final = compile_pattern(
    rf"(?<!{_NAME})@(?:agent:(?P<agent>[A-Za-z0-9_-]{{1,{AGENT_ID_MAX}}})"
    rf"|(?P<person>[\w{MARK}]{_NAME}{{0,{USERNAME_MAX - 1}}}))"
)
_AFTER_NAME: Final = ".@+-"
"""Characters of names that are more often punctuation at the end of a mention."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention as written, with its place in the text. One of `username` and `agent_id` is empty."""

    text: str
    username: str
    agent_id: str
    start: int
    end: int

    @property
    def spellings(self) -> list[str]:
        """The username as written, and without punctuation at its end."""
        name = self.username
        return list(dict.fromkeys((name, name.rstrip(_AFTER_NAME) or name)))


@dataclass(frozen=True, slots=True)
class MentionWarning:
    """A mention that reached nobody, and why."""

    mention: str
    message: str


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A mention of an agent that is to start a run. `words`: the comment without the mention."""

    comment: Comment
    agent_id: str
    words: str
    actor: Actor


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The run of an agent that was mentioned, or why there is none."""

    run_id: UUID | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MentionChoice:
    """A person or agent to mention: the text to write, and the name. `kind` is `person` or `agent`."""

    kind: str
    mention: str
    name: str


agents_to_mention: Hook[[Actor, Post], Sequence[MentionChoice]] = Hook()
"""Returns the agents that an actor may run on a post, in their order. Registered by the app of agents."""
agent_mentioned: Hook[[AgentCall], StartedRun] = Hook()
"""Starts the run of a mentioned agent, in the transaction of the comment. Registered by the app of agents."""


@dataclass(slots=True)
class Mentioned:
    """Who is mentioned in a text: people who may read it, agents, and warnings about the rest."""

    people: list[User] = field(default_factory=list)
    agents: list[Mention] = field(default_factory=list)
    warnings: list[MentionWarning] = field(default_factory=list)


def parse_mentions(text: str) -> list[Mention]:
    """Return the mentions of a text, each name once, in order."""
    found: dict[tuple[str, str], Mention] = {}
    for match in _MENTION.finditer(text):
        name, agent = match["person"] or "", match["agent"] or ""
        mention = Mention(match[0], name, agent, match.start(), match.end())
        found.setdefault((name, agent), mention)
    return list(found.values())


def resolve_mentions(text: str, subject: Post | Asset) -> Mentioned:
    """Return who is mentioned. One query for all names.

    Raises `RuleViolation` on `body` for too many mentions.
    """
    mentions = parse_mentions(text)
    found = Mentioned(agents=[mention for mention in mentions if mention.agent_id])
    if len(mentions) > MAX_MENTIONS:
        raise invalid(
            "body", _("A comment can have at most %(most)s mentions.") % {"most": MAX_MENTIONS}
        )
    if len(found.agents) > MAX_AGENTS:
        raise invalid(
            "body", _("A comment can mention at most %(most)s agents.") % {"most": MAX_AGENTS}
        )
    names = [mention for mention in mentions if mention.username]
    accounts = _find_people([name for mention in names for name in mention.spellings])
    for mention in names:
        user = next((accounts[name] for name in mention.spellings if name in accounts), None)
        if user is None:
            message = _("Nobody here has this username.")
            found.warnings.append(MentionWarning(f"@{mention.spellings[-1]}", message))
        elif not may_read(user, subject):
            message = _("%(name)s cannot see this and was not notified.")
            found.warnings.append(
                MentionWarning(f"@{user.username}", message % {"name": user.username})
            )
        elif user not in found.people:
            found.people.append(user)
    return found


def _find_people(names: Sequence[str]) -> dict[str, User]:
    if not names:
        return {}
    people = list(active_people().filter(username__in=names))
    User.preload_roles(people)
    return {person.username: person for person in people}


def mention_choices(actor: Actor, subject: Post | Asset, words: str) -> list[MentionChoice]:
    """Return people who may read comments here, then agents that the actor may run, whose names have these words.

    At most `MAX_CHOICES` of each. Names that begin with the words come first.
    """
    words = words.strip().removeprefix("@")
    wanted = words.casefold()
    # People have no reason to mention themselves.
    found = active_people().filter(username__icontains=words).exclude(pk=actor.user.pk)
    begins = Case(When(username__istartswith=words, then=0), default=1)
    candidates = list(found.order_by(begins, "username")[:_MAX_CANDIDATES])
    User.preload_roles(candidates)
    choices = [
        MentionChoice("person", f"@{user.username}", user.username)
        for user in islice(_readers_among(candidates, subject), MAX_CHOICES)
    ]
    if not isinstance(subject, Post):
        return choices
    agents = (choice for each in agents_to_mention(actor, subject) for choice in each)
    wanted = wanted.removeprefix("agent:")
    matching = (
        choice
        for choice in agents
        if wanted in choice.mention.removeprefix("@agent:").casefold()
        or wanted in choice.name.casefold()
    )
    return [*choices, *islice(matching, MAX_CHOICES)]


def _readers_among(users: Iterable[User], subject: Post | Asset) -> Iterator[User]:
    """Yield the accounts that may read comments on a post or file."""
    known: dict[tuple[str, bool], bool] = {}
    for user in users:
        # Rights come with the role, and uploaders also see their own files, so nobody else costs a query.
        key = (user.role, isinstance(subject, Asset) and subject.uploaded_by_id == user.pk)
        if key not in known:
            known[key] = may_read(user, subject)
        if known[key]:
            yield user


def may_read(user: User, subject: Model) -> bool:
    """Return whether an account may read comments on a post or file."""
    if not user.has_perm("comments.view"):
        return False
    if isinstance(subject, Post):
        return user.has_perm("posts.view") and can_view(user, subject)
    if not user.has_perm("media.view"):
        return False
    rows = visible_assets(Asset.objects.filter(pk=subject.pk), Actor(user, "system"))
    return rows.exists()


def words_without(text: str, mention: Mention) -> str:
    """Return the comment without the mention of an agent: what the agent is asked to do."""
    return re.sub(r"[ \t]{2,}", " ", text[: mention.start] + text[mention.end :]).strip(" \t\n,:;")
