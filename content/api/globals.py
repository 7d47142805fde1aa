"""`/api/modules/global`: modules that several posts share."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import global_queries, presenters
from content.api.schema import globals as schema
from content.api.schema.modules import Props
from content.models import ModuleInstance
from content.services.globals import create_global, delete_global, edit_global, revert_global
from core.api.body import Body, Words, body_object, check, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet, expected_version
from core.errors import invalid


class NewGlobalModule(Body):
    global_slug: Words
    type: Words
    label: Words = ""
    props: Props = {}


class GlobalModuleChange(Body):
    """Props are merged; what is absent stays. The type and the slug cannot change."""

    type: Words | None = None
    label: Words | None = None
    props: Props | None = None
    version: int | None = None


class GlobalModuleRevert(Body):
    version: int | None = None


_ANSWERED = frozenset({"id", "affectedPosts", "updatedAt", "schema"})
"""What a GET answers beside what can be written."""


class GlobalModuleViewSet(ApiViewSet):
    """Global modules: list, create, read, change, delete; where they are used, and what they were."""

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

    @extend_schema(parameters=schema.GLOBAL_PARAMETERS, responses=schema.GlobalModuleListSchema)
    def list(self, request: Request) -> Response:
        """Global modules by slug, each with the number of posts that show it."""
        page = page_of(request)
        words, type_ = _word(request, "q"), _word(request, "type")
        rows = global_queries.globals_list(words, type_)
        data = [presenters.global_module(row, row.affected) for row in rows[page.slice]]  # type: ignore[attr-defined]  # annotated
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewGlobalModule, responses={201: schema.GlobalModuleSchema})
    def create(self, request: Request) -> Response:
        """Make a global module, which no post places yet."""
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

    @extend_schema(responses=schema.GlobalModuleSchema)
    def retrieve(self, request: Request, global_slug: str) -> Response:
        """One global module; `affectedPosts` says how many posts a change of it touches."""
        return Response(_whole(global_queries.find_global(global_slug)))

    @extend_schema(request=GlobalModuleChange, responses=schema.GlobalModuleSchema)
    def update(self, request: Request, global_slug: str) -> Response:
        """Change a global module on every post that places it, at once."""
        given = {k: v for k, v in body_object(request).items() if k not in _ANSWERED}
        if given.pop("globalSlug", global_slug) != global_slug:
            raise invalid("globalSlug", "The slug of a global module cannot change.")
        body = check(given, GlobalModuleChange)
        module = edit_global(
            actor=self.actor,
            slug=global_slug,
            type=body.type,
            label=body.label,
            props=body.props,
            expected_version=expected_version(request, body.version),
        )
        return Response(_whole(module))

    @extend_schema(responses=schema.GlobalModuleDeletedSchema)
    def destroy(self, request: Request, global_slug: str) -> Response:
        """Delete a global module that no post places, in any layer; else 409 `in_use`."""
        module = delete_global(actor=self.actor, slug=global_slug)
        return Response({"id": module.pk, "globalSlug": module.global_slug, "deleted": True})

    @extend_schema(parameters=schema.PAGES, responses=schema.GlobalModuleUsageListSchema)
    def usage(self, request: Request, global_slug: str) -> Response:
        """The posts that place the module: live (`layer` is source), or proposed in a draft."""
        page = page_of(request)
        posts = global_queries.usage(global_queries.find_global(global_slug))
        rows = posts.values(*global_queries.USAGE_COLUMNS)[page.slice]
        return Response(
            page.envelope([presenters.global_usage(row) for row in rows], posts.count())
        )

    @extend_schema(parameters=schema.PAGES, responses=schema.ModuleRevisionListSchema)
    def revisions(self, request: Request, global_slug: str) -> Response:
        """What the module was, newest first."""
        page = page_of(request)
        rows = global_queries.find_global(global_slug).revisions.all()
        data = [presenters.module_revision(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=GlobalModuleRevert, responses=schema.GlobalModuleSchema)
    def revert(self, request: Request, global_slug: str, revision_id: str) -> Response:
        """Make the module what one of its revisions holds."""
        body = read_body(request, GlobalModuleRevert)
        module = revert_global(
            actor=self.actor,
            slug=global_slug,
            revision_id=revision_id,
            expected_version=expected_version(request, body.version),
        )
        return Response(_whole(module))


def _whole(module: ModuleInstance) -> presenters.Wire:
    affected = global_queries.affected_posts(module)
    return presenters.global_module(module, affected, with_schema=True)


def _word(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if "\x00" in text or len(text) > schema.WORD_MAX:
        raise invalid(name, f"{name} must be a text of at most {schema.WORD_MAX} characters.")
    return text
