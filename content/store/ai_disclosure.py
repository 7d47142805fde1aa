"""The share of a published text that AI wrote, for visitors. No extra statement: the data is a column of the post.

Names of fields and of agents stay inside; only the share, the kind and the approver's role leave this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import orjson
from django.db.models import Case, F, Max, OuterRef, Q, Subquery, TextField, Value, When
from django.db.models.expressions import Combinable, Exists
from django.db.models.functions import Cast

from content.document.document import CUSTOM_PREFIX
from content.document.post_fields import POST_FIELDS
from content.models import Provenance
from proofroom.accounts.roles import Role
from proofroom.core.database.json_text import JSONObject, JSONRows
from proofroom.core.json import Json
from proofroom.definitions import custom_text_of, text_of
from proofroom.disclosure.models import DisclosedType, DisclosureSettings, Show

Kind = Literal["none", "generated", "assisted"]
_AI_ENTRIES: Final = frozenset({"mcp", "agent"})
"""Entry points that only AI uses."""
_IPTC: Final = "http://cv.iptc.org/newscodes/digitalsourcetype/"
DIGITAL_SOURCE_TYPES: Final[Mapping[Kind, str]] = {
    "generated": f"{_IPTC}trainedAlgorithmicMedia",
    "assisted": f"{_IPTC}compositeWithTrainedAlgorithmicMedia",
}
"""IPTC digital source types by kind. Text by people alone has none: the site cannot vouch for it."""


@dataclass(frozen=True, slots=True)
class AiDisclosure:
    """`share`: percent of the characters that AI wrote. `generated`: all of them, unedited; `assisted`: some.

    `role`: the role of the last person who approved AI work; `name`: the username if the person agreed.
    `show`: `line`, `jsonld` or `both`.
    """

    share: int
    kind: Kind
    role: str = ""
    name: str = ""
    approved_at: str = ""
    show: str = Show.BOTH.value

    @property
    def digital_source_type(self) -> str:
        return DIGITAL_SOURCE_TYPES.get(self.kind, "")


def disclosure_columns() -> dict[str, Combinable]:
    """Return the columns to select with a post: `ai_origins` is null unless its type discloses AI work."""
    # Inside another subquery, so the post is two levels up. Values of its creation need no origin.
    own = Provenance.objects.filter(post=OuterRef(OuterRef("pk")))
    latest = own.exclude(revision__reason="created").values("path").annotate(last=Max("id"))
    by_ai = ~Q(agent_id="") | Q(author__role=Role.AI_AGENT.value) | Q(via__in=sorted(_AI_ENTRIES))
    named = Case(
        When(
            approved_by__preferences__is_named_publicly=True,
            approved_by__is_active=True,
            then=F("approved_by__username"),
        ),
        default=Value(""),
    )
    edited = Case(When(edited_by_name="", then=Value(0)), default=Value(1))
    rows = (
        Provenance.objects.filter(pk__in=latest.values("last"))
        .filter(post=OuterRef("pk"))
        .annotate(
            is_by_ai=Case(When(by_ai, then=Value(1)), default=Value(0)),
            is_edited=edited,
            name=named,
        )
        .order_by("id")
        .values(
            entry=JSONObject(
                path="path",
                ai="is_by_ai",
                edited="is_edited",
                role="approved_by__role",
                name="name",
                at="created_at",
            )
        )
    )
    shown = DisclosureSettings.objects.filter(pk=1).values("show")
    return {
        "ai_origins": Case(
            When(
                Exists(DisclosedType.objects.filter(type=OuterRef("type"))),
                then=Cast(JSONRows(rows), TextField()),
            ),
            default=Value(None),
            output_field=TextField(),
        ),
        "ai_show": Subquery(shown),
    }


@dataclass(frozen=True, slots=True)
class _Origin:
    is_ai: bool
    is_edited: bool
    role: str
    name: str
    at: str


def build_disclosure(
    ai_origins: str | None, ai_show: str | None, texts: Iterable[tuple[str, str]]
) -> AiDisclosure | None:
    """Return the disclosure of a post from its columns and its texts by path; None if its type has none."""
    if ai_origins is None:
        return None
    show = ai_show or Show.BOTH.value
    found = {
        row["path"]: _Origin(
            bool(row["ai"]), bool(row["edited"]), row["role"] or "", row["name"] or "", row["at"]
        )
        for row in orjson.loads(ai_origins)
    }
    whole, by_ai = 0, 0
    latest: _Origin | None = None
    is_edited = False
    for path, text in texts:
        size = len("".join(text.split()))
        whole += size
        # A module that was added as a whole has one origin for all its values.
        origin = found.get(path) or found.get(".".join(path.split(".")[:2]))
        if size == 0 or origin is None or not origin.is_ai:
            continue
        by_ai += size
        is_edited = is_edited or origin.is_edited
        if latest is None or origin.at >= latest.at:
            latest = origin
    if latest is None:
        return AiDisclosure(0, "none", show=show)
    is_whole = by_ai == whole
    # Rounding must not turn a part into nothing or into the whole.
    share = 100 if is_whole else min(max(round(100 * by_ai / whole), 1), 99)
    return AiDisclosure(
        share=share,
        kind="generated" if is_whole and not is_edited else "assisted",
        role=latest.role,
        name=latest.name,
        approved_at=latest.at,
        show=show,
    )


TEXT_COLUMNS: Final[Mapping[str, str]] = {
    field.name: field.column
    for field in POST_FIELDS.values()
    if field.kind in ("text", "textarea") and field.format != "slug"
}
"""Columns of the fields of a post that are words, by name."""


def texts_of(
    post_type: str,
    fields: Mapping[str, Json],
    custom_fields: Mapping[str, Json],
    modules: Iterable[tuple[str, str, Mapping[str, Json]]],
) -> Iterator[tuple[str, str]]:
    """Yield the texts of a post by path. `modules`: id, type and props of each, without shared ones.

    Search engines show titles and descriptions, so those count as text, too.
    """
    for name, value in fields.items():
        if isinstance(value, str):
            yield f"post.{name}", value
    for name, value in custom_fields.items():
        yield f"post.{CUSTOM_PREFIX}{name}", custom_text_of(post_type, {name: value})
    for module_id, type_name, props in modules:
        for name, value in props.items():
            yield f"modules.{module_id}.props.{name}", text_of(type_name, {name: value})
