"""`/api/module-groups`: layout templates of post types, defined in code or by users."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import Props, ScopeText
from content.api.definitions import WORD_MAX
from content.modules.module_groups import create_group, delete_group, edit_group
from content.store.module_group_queries import (
    ModuleGroupInfo,
    all_groups,
    find_group,
    group_from_row,
    place_json,
)
from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.body import Body, Words, body_object, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import NotFound, RuleViolation, invalid

GROUP_PARAMETERS: Final = [
    query_parameter("postType", "Groups of a post type."),
    query_parameter("q", "Part of a name or description."),
    *PAGES,
]


class PlaceAnswer(Answer):
    """A module of a group."""

    type: str
    scope: ScopeText
    locked: bool
    props: dict[str, Any] = Field(description="The overrides of a global module.")
    global_slug: str | None
    order_index: int = Field(ge=0)


class ModuleGroupAnswer(Answer):
    """The modules of a new post."""

    id: UUID
    name: str
    label: str
    description: str
    post_type: str
    modules: list[PlaceAnswer]
    source: Annotated[
        str,
        Field(
            json_schema_extra={"enum": ["code", "stored"]},
            description="Groups defined in code cannot be changed here.",
        ),
    ]
    version: int | None = Field(description="Null for a group defined in code.")


class ModuleGroupDeletedAnswer(Answer):
    """The deleted module group."""

    id: UUID
    name: str
    deleted: bool


class GroupPlace(Body):
    type: Words
    scope: Literal["local", "global", "static"] = "local"
    locked: bool = False
    props: Props = {}
    global_slug: Words | None = None
    order_index: int | None = None
    """Accepted for round trips and ignored; the list's order counts."""


Places = Annotated[list[GroupPlace], Field(max_length=300)]


class NewModuleGroup(Body):
    name: Words
    label: Words
    description: Words = ""
    post_type: Words
    modules: Places


class ModuleGroupChange(Body, answered_by=ModuleGroupAnswer):
    label: Words | None = None
    description: Words | None = None
    modules: Places | None = None
    version: int | None = None


class ModuleGroupViewSet(ApiViewSet):
    """Module groups: list, create, read, change, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "settings.manage",
        "retrieve": "posts.view",
        "update": "settings.manage",
        "destroy": "settings.manage",
    }
    conditional = frozenset({"retrieve"})

    @extend_schema(
        parameters=GROUP_PARAMETERS, responses=list_of(ModuleGroupAnswer, "Module groups.")
    )
    def list(self, request: Request) -> Response:
        """List module groups by name; `source` is code or stored."""
        page = page_of(request)
        words = request.query_params.get("q", "")
        if len(words) > WORD_MAX:
            raise invalid("q", f"q must be a text of at most {WORD_MAX} characters.")
        rows = all_groups(request.query_params.get("postType"), words)
        return Response(page.envelope([_answer(row) for row in rows[page.slice]], len(rows)))

    @extend_schema(request=NewModuleGroup, responses={201: ModuleGroupAnswer})
    def create(self, request: Request) -> Response:
        """Create a module group. 422 for a name defined in code."""
        body = read_body(request, NewModuleGroup)
        row = create_group(
            actor=self.actor,
            name=body.name,
            label=body.label,
            description=body.description,
            post_type=body.post_type,
            modules=_places(body.modules),
        )
        where = {"Location": f"/api/module-groups/{row.name}"}
        return Response(_answer(group_from_row(row)), status=201, headers=where)

    @extend_schema(responses=ModuleGroupAnswer)
    def retrieve(self, request: Request, name: str) -> Response:
        """Return one module group, by name or id."""
        return Response(_answer(_require_group(name)))

    @extend_schema(request=ModuleGroupChange, responses=ModuleGroupAnswer)
    def update(self, request: Request, name: str) -> Response:
        """Change a module group; existing posts stay unchanged. 422 if defined in code."""
        # Clients may send back the group they read, so equal values are accepted.
        sent = body_object(request)
        for key, attribute in (("name", "name"), ("postType", "post_type")):
            value = sent.get(key)
            if value is not None and value != getattr(_require_group(name), attribute):
                raise invalid(key, f"The {key} of a module group cannot change.")
        body = read_body(request, ModuleGroupChange)
        row = edit_group(
            actor=self.actor,
            name=name,
            label=body.label,
            description=body.description,
            modules=None if body.modules is None else _places(body.modules),
            expected_version=expected_version(request, body.version),
        )
        return Response(_answer(group_from_row(row)))

    @extend_schema(responses=ModuleGroupDeletedAnswer)
    def destroy(self, request: Request, name: str) -> Response:
        """Delete a module group; existing posts stay unchanged. 422 if defined in code."""
        row = delete_group(actor=self.actor, name=name)
        return Response(ModuleGroupDeletedAnswer(id=row.pk, name=row.name, deleted=True))


def _answer(group: ModuleGroupInfo) -> ModuleGroupAnswer:
    return ModuleGroupAnswer.of(
        group,
        modules=[
            {**place_json(place), "orderIndex": index} for index, place in enumerate(group.modules)
        ],
        source="code" if group.is_code else "stored",
    )


def _places(entries: Places) -> list[dict[str, Any]]:
    return [entry.model_dump(by_alias=True, exclude={"order_index"}) for entry in entries]


def _require_group(name: str) -> ModuleGroupInfo:
    try:
        return find_group(name)
    except RuleViolation:
        raise NotFound(f"There is no module group {name[:100]!r}.") from None
