"""Marks: the writers of what is staged at a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, cast

from django.utils import timezone

from content.posts.post_repository import format_time
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject

NOTE_MAX: Final = 2_000


@dataclass(frozen=True, slots=True)
class Mark:
    """The writer of a staged value.

    `user_id`/`user` the account, `agent_id`/`run_id` the agent and its run, `via` the door, `principal` the
    credential of an AI client, `at` when.
    `edited_by` names the person who changed an agent's words since; the words' origin stays the agent.
    `drifted`: the layer below moved at this path after the value was written.
    `conflict`: a submit left it here, because a person had staged something else.
    """

    user_id: int | None
    user: str
    via: str
    at: str
    agent_id: str = ""
    run_id: str = ""
    principal: str = ""
    edited_by: str = ""
    drifted: bool = False
    conflict: bool = False
    note: str = ""

    @property
    def is_ai(self) -> bool:
        """Whether the words came from an agent or an AI client, whoever changed them since."""
        return bool(self.agent_id) or self.via in ("mcp", "agent")

    @property
    def is_agents(self) -> bool:
        """Whether the words are an agent's or an AI client's, and no person changed them since."""
        return self.is_ai and not self.edited_by

    def to_json(self) -> JsonObject:
        return cast(JsonObject, asdict(self))

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Mark:
        return cls(**cast("dict[str, str]", dict(value)))  # type: ignore[arg-type]  # written by to_json

    @classmethod
    def of(cls, actor: Actor, *, previous: Mark | None = None) -> Mark:
        """The mark of what `actor` writes now; a person who edits an agent's words leaves them the agent's."""
        mark = cls(
            user_id=actor.user.pk,
            user=actor.user.username,
            via=actor.via,
            at=format_time(timezone.now()),
            agent_id=actor.agent_id or "",
            run_id=actor.run_id or "",
            principal=actor.principal[:100],
        )
        if previous is not None and previous.is_ai and actor.is_person:
            return replace(previous, edited_by=actor.user.username, drifted=False, conflict=False)
        return mark


Marks = dict[str, Mark]
_POSITION: Final = ".position"


def read_marks(value: Mapping[str, Mapping[str, Json]]) -> Marks:
    return {path: Mark.from_json(mark) for path, mark in value.items()}


def mark_of(marks: Marks, path: str) -> Mark | None:
    """The mark at a path; a whole module answers with the mark of any of its parts, and the other way round.

    A position without a mark answers with the latest mark of another one.
    """
    if path in marks:
        return marks[path]
    near = [
        mark
        for known, mark in marks.items()
        if known.startswith(path + ".") or path.startswith(known + ".")
    ]
    if not near and path.endswith(_POSITION):
        # An order is one thing: on an order that moved below, other modules may be those out of place.
        orders = [mark for known, mark in marks.items() if known.endswith(_POSITION)]
        near = sorted(orders, key=lambda mark: mark.at, reverse=True)
    return near[0] if near else None


def parts_of(marks: Marks, path: str) -> Marks:
    """The marks of what lies below a path: of the parts of a module that a layer added."""
    return {known: mark for known, mark in marks.items() if known.startswith(path + ".")}


def writers_of(marks: Marks, path: str) -> list[Mark]:
    """Everybody who wrote what stands at a path: the nearest mark, and those of its parts."""
    nearest = mark_of(marks, path)
    return ([nearest] if nearest else []) + list(parts_of(marks, path).values())
