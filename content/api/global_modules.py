"""`/api/modules/global`: modules shared by several posts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters
from content.api.common_answers import LayerText, Props, StatusText
from content.models import ModuleInstance
from content.modules.global_modules import create_global, delete_global, edit_global, revert_global
from content.store import global_module_queries
from content.store.scopes import visible_to
from proofroom.core.api.answer import Answer, MetaAnswer, PersonAnswer, list_of, one_of
from proofroom.core.api.body import Body, Words, body_object, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import invalid
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE

WORD_MAX: Final = 200
GLOBAL_PARAMETERS: Final = [
    query_parameter("q", "Part of a label or slug."),
    query_parameter("type", "Module type."),
    *PAGES,
]
_REASONS: Final = ["before", "created", "edited", "reverted", "find-replace", "approved"]


class GlobalModuleAnswer(Answer):
    """A module shared by several posts."""

    id: UUID
    global_slug: str
    type: str
    label: str
    props: dict[str, Any]
    version: int = Field(ge=1)
    affected_posts: int = Field(
        ge=0, validation_alias="affected", description="The number of posts that show it."
    )
    updated_at: datetime
    # Cached JSON of the type; lists omit it.
    module_schema: Any = Field(
        None,
        serialization_alias="schema",
        description="`{type, propsSchema, defaultProps}`.",
        json_schema_extra={"type": ["object", "null"], "additionalProperties": {}},
    )


class GlobalModuleDeletedAnswer(Answer):
    """The deleted global module."""

    id: UUID
    global_slug: str
    deleted: bool


class GlobalModuleUseAnswer(Answer):
    """A post that contains a global module."""

    id: UUID
    title: str
    type: str
    locale: str
    status: StatusText
    layer: LayerText
    url: str


class GlobalModuleUsageListAnswer(Answer):
    """The posts that contain a global module."""

    data: list[GlobalModuleUseAnswer]
    meta: MetaAnswer


class ModuleRevisionAnswer(Answer):
    """An earlier state of a global module."""

    id: UUID
    version: int = Field(ge=1)
    label: str
    props: dict[str, Any]
    reason: Annotated[str, one_of(_REASONS)]
    by: PersonAnswer
    created_at: datetime


class NewGlobalModule(Body):
    global_slug: Words
    type: Words
    label: Words = ""
    props: Props = {}


class GlobalModuleChange(Body, answered_by=GlobalModuleAnswer):
    """Props are merged; absent keys stay. Type and slug can't be changed."""

    type: Words | None = None
    label: Words | None = None
    props: Props | None = None
    version: int | None = None


class GlobalModuleRevert(Body):
    version: int | None = None


class GlobalModuleViewSet(ApiViewSet):
    """Global modules: list, create, read, change, delete, usage and revisions."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "globals.edit",
        "retrieve": "posts.view",
        "update": "globals.edit",
        "destroy": "globals.edit",
        "usage": "posts.view",
        "revisions": "posts.view",
        "revert": "globals.edit",
    }
    conditional = frozenset({"retrieve"})

    @extend_schema(
        parameters=GLOBAL_PARAMETERS, responses=list_of(GlobalModuleAnswer, "Global modules.")
    )
    def list(self, request: Request) -> Response:
        """List global modules by slug, with the number of posts that show each."""
        page = page_of(request)
        words, type_ = _word(request, "q"), _word(request, "type")
        rows = global_module_queries.globals_list(words, type_)
        data = [
            GlobalModuleAnswer.of(row).model_dump(by_alias=True, exclude_unset=True)
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewGlobalModule, responses={201: GlobalModuleAnswer})
    def create(self, request: Request) -> Response:
        """Create a global module, used by no post yet."""
        body = read_body(request, NewGlobalModule)
        module = create_global(
            actor=self.actor,
            slug=body.global_slug,
            type=body.type,
            label=body.label,
            props=body.props,
        )
        location = f"/api/modules/global/{module.global_slug}"
        return Response(_whole(module), status=201, headers={"Location": location})

    @extend_schema(responses=GlobalModuleAnswer)
    def retrieve(self, request: Request, global_slug: str) -> Response:
        """Return a global module; `affectedPosts` is the number of posts a change affects."""
        return Response(_whole(global_module_queries.find_global(global_slug)))

    @extend_schema(request=GlobalModuleChange, responses=GlobalModuleAnswer)
    def update(self, request: Request, global_slug: str) -> Response:
        """Change a global module, live in all posts that contain it."""
        # Checked in the raw body, because clients may send back a whole module that they read.
        if body_object(request).get("globalSlug", global_slug) != global_slug:
            raise invalid("globalSlug", "The slug of a global module cannot change.")
        body = read_body(request, GlobalModuleChange)
        module = edit_global(
            actor=self.actor,
            slug=global_slug,
            type=body.type,
            label=body.label,
            props=body.props,
            expected_version=expected_version(request, body.version),
        )
        return Response(_whole(module))

    @extend_schema(responses=GlobalModuleDeletedAnswer)
    def destroy(self, request: Request, global_slug: str) -> Response:
        """Delete a global module that no post contains in any layer; else 409 `in_use`."""
        module = delete_global(actor=self.actor, slug=global_slug)
        return Response(GlobalModuleDeletedAnswer.of(module, deleted=True))

    @extend_schema(parameters=PAGES, responses=GlobalModuleUsageListAnswer)
    def usage(self, request: Request, global_slug: str) -> Response:
        """List the posts that contain the module: live (`layer` is source), or in a draft."""
        page = page_of(request)
        posts = visible_to(
            global_module_queries.usage(global_module_queries.find_global(global_slug)), self.actor
        )
        rows = posts.values(*global_module_queries.USAGE_COLUMNS)[page.slice]
        data = [GlobalModuleUseAnswer(url=row.pop("path"), **row) for row in rows]
        return Response(page.envelope(data, posts.count()))

    @extend_schema(
        parameters=PAGES,
        responses=list_of(ModuleRevisionAnswer, "What a global module was, newest first."),
    )
    def revisions(self, request: Request, global_slug: str) -> Response:
        """List earlier states of the module, newest first."""
        page = page_of(request)
        rows = list_revisions(GLOBAL_MODULE, global_module_queries.find_global(global_slug).pk)
        data = [
            ModuleRevisionAnswer(
                id=row.pk,
                version=row.version,
                label=row.document["label"],
                props=row.document["props"],
                reason=row.reason,
                by=PersonAnswer(id=row.by_id, username=row.by_name),
                created_at=row.created_at,
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=GlobalModuleRevert, responses=GlobalModuleAnswer)
    def revert(self, request: Request, global_slug: str, revision_id: str) -> Response:
        """Restore one of the module's revisions."""
        body = read_body(request, GlobalModuleRevert)
        module = revert_global(
            actor=self.actor,
            slug=global_slug,
            revision_id=revision_id,
            expected_version=expected_version(request, body.version),
        )
        return Response(_whole(module))


def _whole(module: ModuleInstance) -> GlobalModuleAnswer:
    return GlobalModuleAnswer.of(
        module,
        affected=global_module_queries.affected_posts(module),
        module_schema=presenters.module_schema(module.type),
    )


def _word(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if "\x00" in text or len(text) > WORD_MAX:
        raise invalid(name, f"{name} must be a text of at most {WORD_MAX} characters.")
    return text
