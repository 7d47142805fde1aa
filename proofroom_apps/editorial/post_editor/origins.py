"""The origin of each value of a post: its author, one of three kinds, and whether AI wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from content.models import Post, Provenance
from content.store.layer_state import Attribution
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.admin.permissions import actor_of
from proofroom.core.agent_directory import agent_name
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom_apps.editorial.post_editor.form import FormUnit
from proofroom_apps.editorial.posts.authors import author_label, client_names
from proofroom_apps.editorial.posts.extensions import RunView, describe_runs

AI_DOORS: Final = frozenset({"mcp", "agent"})
"""Entry points that only AI uses."""
PERSON: Final = "person"
AI: Final = "ai"
AI_EDITED: Final = "ai-edited"
_COLUMNS: Final = (
    "path",
    "author_name",
    "author__role",
    "agent_id",
    "run_id",
    "via",
    "principal",
    "edited_by_name",
    "approved_by_name",
    "created_at",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The author of a value. `kind` selects the pattern of the bar; values by people need no approval."""

    kind: str
    author: str
    edited_by: str
    approved_by: str
    day: str
    run_id: str = ""
    run: RunView | None = None
    via: str = ""
    principal: str = ""

    @property
    def is_ai(self) -> bool:
        return self.kind != PERSON

    @property
    def name(self) -> str:
        """The pattern in words."""
        names = {
            PERSON: _("Written by a person"),
            AI: _("Written by AI, approved by a person"),
            AI_EDITED: _("Written by AI, edited by a person"),
        }
        return names[self.kind]

    @property
    def sentence(self) -> str:
        """One sentence: who wrote it, who edited it, who approved it, when."""
        names = {"author": self.author, "editor": self.edited_by, "by": self.approved_by}
        return _SENTENCES[self.is_ai, bool(self.edited_by), bool(self.approved_by)]() % {
            **names,
            "day": self.day,
        }


# Whole sentences, since the word order differs between languages; functions, since each request translates them.
_SENTENCES: Final = {
    (False, False, False): lambda: _("By %(author)s, %(day)s"),
    (False, False, True): lambda: _("By %(author)s, approved by %(by)s, %(day)s"),
    (False, True, False): lambda: _("By %(author)s, edited by %(editor)s, %(day)s"),
    (False, True, True): lambda: _(
        "By %(author)s, edited by %(editor)s, approved by %(by)s, %(day)s"
    ),
    (True, False, False): lambda: _("AI: %(author)s, %(day)s"),
    (True, False, True): lambda: _("AI: %(author)s, approved by %(by)s, %(day)s"),
    (True, True, False): lambda: _("AI: %(author)s, edited by %(editor)s, %(day)s"),
    (True, True, True): lambda: _(
        "AI: %(author)s, edited by %(editor)s, approved by %(by)s, %(day)s"
    ),
}


def _latest(post_id: UUID) -> QuerySet[Any, Any]:
    # Values from the post's creation need no origin.
    later = Provenance.objects.filter(post=post_id).exclude(revision__reason="created")
    # Ids grow, so the highest id of a path is its latest row.
    latest = later.values("path").annotate(last=Max("id")).values("last")
    rows: QuerySet[Any, Any] = Provenance.objects.filter(pk__in=latest).values(*_COLUMNS)
    return rows


_LATEST: Final = CompiledQuery(_latest)


def load_origins(post: Post) -> dict[str, Origin]:
    """Return the origin of each value that changed since the post was created, by path. One query."""
    rows = _LATEST.rows(post.pk)
    day_of = cache(lambda day: date_format(day, "DATE_FORMAT"))
    found = {}
    for row in rows:
        is_agent = bool(row["agent_id"]) or row["author__role"] == Role.AI_AGENT
        is_ai = is_agent or row["via"] in AI_DOORS
        # A value saved live by its author has no separate approver.
        is_approved = is_ai or row["approved_by_name"] != row["author_name"]
        ai_kind = AI_EDITED if row["edited_by_name"] else AI
        found[row["path"]] = Origin(
            kind=ai_kind if is_ai else PERSON,
            author=(agent_name(row["agent_id"]) or row["author_name"])
            if is_ai
            else row["author_name"],
            edited_by=row["edited_by_name"],
            approved_by=row["approved_by_name"] if is_approved else "",
            day=day_of(timezone.localtime(row["created_at"]).date()),
            run_id=row["run_id"],
            via=row["via"],
            principal=row["principal"],
        )
    return found


def origins_of(request: HttpRequest, post: Post) -> dict[str, Origin]:
    """Return the origins with their runs and AI clients, as far as the user may see them.

    One query more if there are runs, at most two if there are AI clients.
    """
    found = load_origins(post)
    runs = describe_runs(request, (origin.run_id for origin in found.values()))
    clients = client_names((origin.principal for origin in found.values()), actor_of(request))
    return {
        path: replace(
            one,
            run=runs.get(one.run_id),
            author=author_label(one.author, one.via, clients.get(one.principal, "")),
        )
        for path, one in found.items()
    }


def ai_share(units: Iterable[FormUnit], found: Mapping[str, Origin]) -> tuple[int, int]:
    """Return the number of filled values written by AI, and of all filled values."""
    listed = [unit.path for unit in units if unit.value not in (None, "", [], {})]
    own = [path for path in listed if (origin := origin_at(path, found)) and origin.is_ai]
    return len(own), len(listed)


def origin_at(path: str, found: Mapping[str, Origin]) -> Origin | None:
    """Return the origin of the value, or of the whole module with which it was added."""
    return found.get(path) or found.get(".".join(path.split(".")[:2]))


def find_agent_accounts(marks: Iterable[Attribution]) -> set[int]:
    """Return the ids of authors with AI agent accounts, for any entry point. At most one query."""
    ids = {mark.user_id for mark in marks if not mark.is_ai and mark.user_id is not None}
    if not ids:
        return set()
    return set(User.objects.filter(pk__in=ids, role=Role.AI_AGENT).values_list("pk", flat=True))


def is_by_ai(mark: Attribution, agents: set[int]) -> bool:
    """Return whether AI wrote the value. `agents` is from `find_agent_accounts`."""
    return mark.is_ai or mark.user_id in agents
