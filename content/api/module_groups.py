"""`/api/module-groups`: the layout templates of post types, those that are code and those that people made."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters
from content.api.schema import definitions as schema
from content.api.schema.modules import Props
from content.module_group_queries import all_groups, find_group, of_row
from content.services.module_groups import create_group, delete_group, edit_group
from core.api.body import Body, Words, body_object, check, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet, expected_version
from core.errors import NotFound, RuleViolation, invalid


class GroupPlace(Body):
    type: Words
    scope: Literal["local", "global", "static"] = "local"
    locked: bool = False
    props: Props = {}
    global_slug: Words | None = None
    order_index: int | None = None
    """Read back, and ignored: the order of the list counts."""


Places = Annotated[list[GroupPlace], Field(max_length=300)]


class NewModuleGroup(Body):
    name: Words
    label: Words
    description: Words = ""
    post_type: Words
    modules: Places


class ModuleGroupChange(Body):
    label: Words | None = None
    description: Words | None = None
    modules: Places | None = None
    version: int | None = None


_ANSWERED = frozenset({"id", "source"})
"""What a GET answers beside what can be written."""


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

    @extend_schema(parameters=schema.GROUP_PARAMETERS, responses=schema.ModuleGroupListSchema)
    def list(self, request: Request) -> Response:
        """Module groups by name; `source` says whether one is code."""
        page = page_of(request)
        words = request.query_params.get("q", "")
        if len(words) > schema.WORD_MAX:
            raise invalid("q", f"q must be a text of at most {schema.WORD_MAX} characters.")
        rows = all_groups(request.query_params.get("postType"), words)
        return Response(
            page.envelope([presenters.module_group(row) for row in rows[page.slice]], len(rows))
        )

    @extend_schema(request=NewModuleGroup, responses={201: schema.ModuleGroupSchema})
    def create(self, request: Request) -> Response:
        """Make a module group. A name that is code is 422."""
        body = read_body(request, NewModuleGroup)
        row = create_group(
            actor=self.actor,
            name=body.name,
            label=body.label,
            description=body.description,
            post_type=body.post_type,
            modules=_places(body.modules),
        )
        wire = presenters.module_group(of_row(row))
        return Response(wire, status=201, headers={"Location": f"/api/module-groups/{row.name}"})

    @extend_schema(responses=schema.ModuleGroupSchema)
    def retrieve(self, request: Request, name: str) -> Response:
        """One module group, by its name or id."""
        try:
            return Response(presenters.module_group(find_group(name)))
        except RuleViolation:
            raise NotFound(f"There is no module group {name[:100]!r}.") from None

    @extend_schema(request=ModuleGroupChange, responses=schema.ModuleGroupSchema)
    def update(self, request: Request, name: str) -> Response:
        """Change a module group; posts made with it stay as they are. One that is code is 422."""
        given = {k: v for k, v in body_object(request).items() if k not in _ANSWERED}
        for key in ("name", "postType"):
            _require_same(name, key, given.pop(key, None))
        body = check(given, ModuleGroupChange)
        row = edit_group(
            actor=self.actor,
            name=name,
            label=body.label,
            description=body.description,
            modules=None if body.modules is None else _places(body.modules),
            expected_version=expected_version(request, body.version),
        )
        return Response(presenters.module_group(of_row(row)))

    @extend_schema(responses=schema.ModuleGroupDeletedSchema)
    def destroy(self, request: Request, name: str) -> Response:
        """Delete a module group; posts made with it stay as they are. One that is code is 422."""
        row = delete_group(actor=self.actor, name=name)
        return Response({"id": row.pk, "name": row.name, "deleted": True})


def _places(entries: Places) -> list[dict[str, Any]]:
    return [entry.model_dump(by_alias=True, exclude={"order_index"}) for entry in entries]


def _require_same(name: str, key: str, given: object) -> None:
    """The name and the post type of a group can be put back, but not changed."""
    if given is None:
        return
    try:
        group = find_group(name)
    except RuleViolation:
        raise NotFound(f"There is no module group {name[:100]!r}.") from None
    if given != (group.name if key == "name" else group.post_type):
        raise invalid(key, f"The {key} of a module group cannot change.")
