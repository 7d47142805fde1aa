"""`/api/posts` and `/api/posts/trash`: posts, written live by people, and deleted posts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api import post_lists
from content.api.common_answers import StatusText
from content.api.module_entries import build_modules
from content.api.post_answers import (
    CHANGED_POST,
    LIST_PARAMETERS,
    MADE,
    NEW_POST,
    CreatedPostAnswer,
    DeletedAnswer,
    ExportAnswer,
    NewPost,
    PostAnswer,
    PostChanges,
    PostListAnswer,
)
from content.layers import open_layers
from content.models import Post
from content.posts import trash
from content.posts.create import PostDates, create_post
from content.posts.edit import edit_post
from content.posts.post_templates import create_from_template
from content.posts.publication_date import UNCHANGED, PublishedAt, read_published_at
from content.presenters.canonical_json import export_post
from content.presenters.whole_post import modules_of, present_post, read_post
from content.store import document_edits, post_queries
from content.store.post_queries import require_post
from content.store.scopes import visible_to
from proofroom.core.api.answer import Answer, MetaAnswer, TextOrNull, described
from proofroom.core.api.body import body_object
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject


class TrashedPostAnswer(Answer):
    """A post in the trash."""

    id: UUID
    type: str
    locale: str
    slug: str
    title: str
    status: StatusText
    variation_of: UUID | None = Field(validation_alias="variation_of_id")
    variation: TextOrNull
    deleted_at: datetime


class TrashAnswer(Answer):
    """The deleted posts."""

    data: list[TrashedPostAnswer]
    meta: MetaAnswer


class TrashViewSet(ApiViewSet):
    """The trash."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "posts.restore"}

    @extend_schema(parameters=PAGES, responses=TrashAnswer)
    def list(self, request: Request) -> Response:
        """List deleted posts, last deleted first."""
        page = page_of(request)
        rows = visible_to(post_queries.deleted_posts(), self.actor)
        data = [TrashedPostAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))


class PostViewSet(ApiViewSet):
    """Posts: list, create, read, update, delete, restore, export."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "posts.create",
        "retrieve": "posts.view",
        "update": ("posts.edit", "posts.translate"),
        "destroy": "posts.delete",
        "restore": "posts.restore",
        "export": "posts.view",
    }
    conditional = frozenset({"list", "retrieve"})

    @extend_schema(parameters=LIST_PARAMETERS, responses=PostListAnswer)
    def list(self, request: Request) -> Response:
        """List posts with their live modules; `layers` describes staged changes."""
        return Response(post_lists.post_list(request, actor=self.actor))

    @extend_schema(
        parameters=MADE,
        request=described(NewPost),
        responses={201: described(CreatedPostAnswer)},
        examples=[NEW_POST],
    )
    def create(self, request: Request) -> Response:
        """Create a post. Without `modules` and `template`, the default module group is used."""
        body = body_object(request)
        if body.get("template") is not None:
            return self._create_from_template(body)
        body.pop("template", None)
        modules = build_modules(body.pop("modules"), self.actor) if "modules" in body else None
        published_at = read_published_at(body.pop("publishedAt", None))
        type_ = body.pop("type", None)
        if not isinstance(type_, str) or not type_:
            raise invalid("type", "type is required, as text.")
        try:
            post = create_post(
                actor=self.actor,
                type=type_,
                locale=_optional_text(body, "locale"),
                status=_optional_text(body, "status") or "draft",
                edit=modules,
                module_group=_optional_text(body, "moduleGroup"),
                fields=body,
                dates=PostDates(published_at),
            )
        except RuleViolation as error:
            raise (modules.by_number(error) if modules else error) from None
        return Response(
            present_post(post, self.actor),
            status=201,
            headers={"Location": f"/api/posts/{post.pk}"},
        )

    def _create_from_template(self, body: JsonObject) -> Response:
        for name in ("modules", "moduleGroup"):
            if body.get(name) is not None:
                raise invalid(name, "Send either a template or modules.")
            body.pop(name, None)
        published_at = read_published_at(body.pop("publishedAt", None))
        made = create_from_template(
            actor=self.actor,
            template_id=_optional_text(body, "template") or "",
            type=_optional_text(body, "type") or "",
            locale=_optional_text(body, "locale"),
            status=_optional_text(body, "status") or "draft",
            fields=body,
            dates=PostDates(published_at),
        )
        left_out = [{"label": one.label, "reason": one.reason} for one in made.left_out]
        return Response(
            {**present_post(made.post, self.actor), "leftOut": left_out},
            status=201,
            headers={"Location": f"/api/posts/{made.post.pk}"},
        )

    @extend_schema(responses=described(PostAnswer))
    def retrieve(self, request: Request, post_id: str) -> Response:
        """Return one post with its modules in all three layers."""
        return Response(read_post(post_id, self.actor))

    @extend_schema(
        request=described(PostChanges),
        responses=described(PostAnswer),
        examples=[CHANGED_POST],
    )
    def update(self, request: Request, post_id: str) -> Response:
        """Change live fields, status or publication date; absent keys stay."""
        body = body_object(request)
        version = expected_version(request, body.pop("version", None))
        status = _optional_text(body, "status")
        published_at: PublishedAt = UNCHANGED
        # A missing key is not the same as null, which clears the date.
        if "publishedAt" in body:
            published_at = read_published_at(body.pop("publishedAt"))
        post = require_post(post_id, self.actor)
        # Clients may send back a post they read; its modules are accepted if unchanged.
        if "modules" in body and not _are_unchanged(body.pop("modules"), post):
            raise invalid(
                "modules", "Change modules through /api/posts/:id/modules and /api/post-modules."
            )
        post = edit_post(
            post_id=post.pk,
            actor=self.actor,
            edit=lambda document: document_edits.patch_fields(document, body),
            status=status,
            published_at=published_at,
            expected_version=version,
        )
        return Response(present_post(post, self.actor))

    @extend_schema(responses={200: DeletedAnswer})
    def destroy(self, request: Request, post_id: str) -> Response:
        """Move the post to the trash."""
        post = require_post(post_id, self.actor)
        post = trash.delete_post(post_id=post.pk, actor=self.actor)
        return Response(DeletedAnswer.of(post))

    @extend_schema(request=None, responses={200: described(PostAnswer)})
    def restore(self, request: Request, post_id: str) -> Response:
        """Restore the post from the trash."""
        return Response(
            present_post(trash.restore_post(post_id=post_id, actor=self.actor), self.actor)
        )

    @extend_schema(responses=described(ExportAnswer))
    def export(self, request: Request, post_id: str) -> Response:
        """Return the live post as canonical JSON."""
        post = require_post(post_id, self.actor)
        return Response(export_post(post=post, actor=self.actor))


def _are_unchanged(modules: object, post: Post) -> bool:
    """Return whether the modules in the request equal the current ones."""
    if not isinstance(modules, list) or not all(isinstance(item, dict) for item in modules):
        return False
    names = ("postModuleId", "type", "locked", "props", "overrides")
    now = modules_of(open_layers(post), staged=True)
    return [[item.get(name) for name in names] for item in modules] == [
        [row[name] for name in names] for row in now
    ]


def _optional_text(body: dict[str, Any], name: str) -> str | None:
    value = body.pop(name, None)
    if value is not None and not isinstance(value, str):
        raise invalid(name, f"{name} must be text.")
    return value
