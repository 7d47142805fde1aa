"""`/api/posts/:id/modules` and `/api/post-modules/:id`: modules of all layers; writes are live and for people."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import Props
from content.api.module_entries import NewModule, add
from content.document.document import PostDocument
from content.layers import open_layers
from content.models import Post, PostModule
from content.posts.edit import edit_post
from content.presenters.posts import ModuleAnswer
from content.presenters.whole_post import modules_of
from content.rules.modules import rekey_for_module
from content.store import document_edits
from content.store.post_queries import require_post
from content.store.scopes import filter_by_visible_post
from proofroom.core.actor import Actor
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.body import Body, Whole, Words, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import NotFound, RuleViolation, invalid

PostVersion = Annotated[int, Field(ge=1, description="Of the post.")]


class WrittenModuleAnswer(ModuleAnswer):
    """A module after a write, with its post."""

    postId: UUID
    version: PostVersion


class ModuleListAnswer(Answer):
    """Every module of a post, in order; modules that are only staged come last."""

    data: list[ModuleAnswer]
    meta: MetaAnswer
    version: PostVersion


class RemovedModuleAnswer(Answer):
    """The removed module."""

    post_module_id: UUID
    removed: bool
    version: PostVersion


class OrderedModulesAnswer(Answer):
    """The modules of the live post in order."""

    order: list[UUID]
    version: PostVersion


class ModulePatch(Body, answered_by=WrittenModuleAnswer):
    props: Props | None = None
    overrides: Props | None = None
    order_index: Whole | None = None
    type: Words | None = None
    locked: bool | None = None
    version: Whole | None = None


class ModuleOrder(Body):
    order: list[str]
    version: Whole | None = None


class ModuleViewSet(ApiViewSet):
    """Modules of a post: list, add, update, remove, reorder."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "posts.edit",
        "update": ("posts.edit", "posts.translate"),
        "destroy": "posts.edit",
        "reorder": "posts.edit",
    }

    @extend_schema(responses=ModuleListAnswer)
    def list(self, request: Request, post_id: str) -> Response:
        """List every module of a post, with its values in each layer."""
        post = require_post(post_id, self.actor)
        rows = modules_of(open_layers(post), staged=True)
        meta = {"total": len(rows), "per_page": len(rows), "current_page": 1, "last_page": 1}
        return Response({"data": rows, "meta": meta, "version": post.version})

    @extend_schema(request=NewModule, responses={201: described(WrittenModuleAnswer)})
    def create(self, request: Request, post_id: str) -> Response:
        """Add a module to the live post, at `orderIndex` or last."""
        entry = read_body(request, NewModule)
        post = require_post(post_id, self.actor)
        made: list[str] = []

        def edit(document: PostDocument) -> PostDocument:
            document, id_ = add(document, entry, self.actor, entry.order_index)
            made.append(id_)
            return document

        post = _edit_modules(post.pk, made, self, edit, expected_version(request, entry.version))
        return Response(_module(post, made[0]), status=201)

    @extend_schema(request=ModulePatch, responses=described(WrittenModuleAnswer))
    def update(self, request: Request, module_id: str) -> Response:
        """Merge props and overrides into a live module. Global modules accept overrides only."""
        patch = read_body(request, ModulePatch)
        row = _require_row(module_id, self.actor)
        id_ = str(row.pk)
        # Clients may send back the module they read, so equal values are accepted below.
        if patch.type is not None and patch.type != row.instance.type:
            raise invalid("type", "The type of a module cannot be changed.", code="module_type")
        if patch.locked is not None and patch.locked != row.locked:
            message = "Whether a module is locked is set when it is added, and stays."
            raise invalid("locked", message, code="locked_module")
        if row.instance.scope != "local" and patch.props and patch.props != row.instance.props:
            message = "This module is shared; change it at /api/modules/global, or send overrides."
            raise invalid("props", message, code="shared_module")
        post = _edit_modules(
            row.post_id,
            [id_],
            self,
            lambda document: document_edits.update_module(
                document,
                id_,
                props=patch.props if row.instance.scope == "local" else None,
                overrides=patch.overrides,
                index=patch.order_index,
            ),
            expected_version(request, patch.version),
        )
        return Response(_module(post, id_))

    @extend_schema(responses={200: RemovedModuleAnswer})
    def destroy(self, request: Request, module_id: str) -> Response:
        """Remove a module from the live post."""
        row = _require_row(module_id, self.actor)
        id_ = str(row.pk)
        post = _edit_modules(
            row.post_id,
            [id_],
            self,
            lambda document: document_edits.remove_module(document, id_),
            None,
        )
        return Response(
            RemovedModuleAnswer(post_module_id=row.pk, removed=True, version=post.version)
        )

    @extend_schema(request=ModuleOrder, responses={200: OrderedModulesAnswer})
    def reorder(self, request: Request, post_id: str) -> Response:
        """Reorder the modules of the live post. Each must be named once."""
        body = read_body(request, ModuleOrder)
        post = require_post(post_id, self.actor)
        post = edit_post(
            post_id=post.pk,
            actor=self.actor,
            # Stored ids are lower case; a UUID may be sent in either case.
            edit=lambda document: document_edits.reorder_modules(
                document, [id_.lower() for id_ in body.order]
            ),
            expected_version=expected_version(request, body.version),
        )
        return Response(
            OrderedModulesAnswer(order=open_layers(post).live.order, version=post.version)
        )


def _edit_modules(
    post_id: UUID | str, module_ids: list[str], view: ModuleViewSet, edit: Any, version: int | None
) -> Post:
    try:
        return edit_post(post_id=post_id, actor=view.actor, edit=edit, expected_version=version)
    except RuleViolation as error:
        raise (rekey_for_module(module_ids[0], error) if module_ids else error) from None


def _require_row(module_id: str, actor: Actor) -> PostModule:
    placed = PostModule.objects.filter(post__deleted_at__isnull=True)
    try:
        row = (
            filter_by_visible_post(placed, actor)
            .filter(pk=UUID(module_id))
            .select_related("instance")
            .first()
        )
    except ValueError:
        row = None
    if row is None:
        raise NotFound(f"No module on a live post has the ID {module_id}.")
    return row


def _module(post: Post, module_id: str) -> dict[str, Any]:
    rows = modules_of(open_layers(post), staged=True)
    wire = next(row for row in rows if row["postModuleId"] == module_id)
    return {**wire, "postId": post.pk, "version": post.version}
