"""`/api/posts/import`: create a draft from an `/export` response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from drf_spectacular.utils import extend_schema
from pydantic import Field, create_model
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import Props
from content.api.post_answers import MADE, PostAnswer
from content.document.document import CUSTOM_PREFIX, SCHEMA_VERSION, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from content.presenters.canonical_json import import_post
from content.presenters.whole_post import present_post
from content.rules.check import MAX_TERMS
from content.rules.modules import MODULES_MAX
from proofroom.core.api.answer import described
from proofroom.core.api.body import Body, Moment, Words, body_object
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.errors import validate_input


class _ImportedPost(Body):
    type: Words
    locale: Words
    published_at: Moment | None = None


if TYPE_CHECKING:
    ImportedFields = _ImportedPost
else:
    _SHAPES = {"json": dict[str, Any], "number": int, "people": list[int]}
    ImportedFields = create_model(
        "ImportedFields",
        __base__=_ImportedPost,
        __doc__="The fields of a post. `status` and `publishAt` are ignored: an import is a draft. "
        "`publishedAt` is kept where you may publish. `authors` are ignored: you are the author.",
        **{
            field.column: (_SHAPES.get(field.kind, Words) | None, None)
            for field in POST_FIELDS.values()
        },
        custom_fields=(dict[str, Any], {}),
        status=(Words | None, None),
    )


class ImportedModule(Body):
    """A module. Its ids are ignored and replaced."""

    type: Words
    scope: Words = "local"
    global_slug: Words | None = None
    locked: bool = False
    props: Props | None = None
    overrides: Props | None = None
    post_module_id: Words | None = None
    module_instance_id: Words | None = None
    order_index: int | None = None


class ImportedDocument(Body):
    """A document from `/export`. `translations` is ignored."""

    schema_version: Annotated[int, Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)]
    post: ImportedFields
    taxonomy_term_ids: Annotated[list[Words], Field(max_length=MAX_TERMS)] = []
    modules: Annotated[list[ImportedModule], Field(max_length=MODULES_MAX)] = []
    translations: list[Any] = []


class Import(Body):
    """A document, with values to replace. A bare document is accepted too."""

    document: ImportedDocument
    slug: Words | None = None
    locale: Words | None = None


class ImportViewSet(ApiViewSet):
    """Import."""

    permissions: ClassVar[dict[str, Declared]] = {"create": "posts.create"}

    @extend_schema(parameters=MADE, request=Import, responses={201: described(PostAnswer)})
    def create(self, request: Request) -> Response:
        """Create a draft from a post's canonical JSON. Referenced objects must exist here."""
        body = body_object(request)
        if "schemaVersion" in body:
            # A bare document, as `/export` returns it.
            body = {"document": body}
        # Before validation, because another version may have another schema and would give misleading errors.
        document = body.get("document")
        version = document.get("schemaVersion") if isinstance(document, dict) else None
        if version is not None and (isinstance(version, bool) or version != SCHEMA_VERSION):
            message = f"schemaVersion must be {SCHEMA_VERSION}: no other one is known here."
            raise invalid("document.schemaVersion", message, code="schema_version")
        shape = validate_input(body, Import)
        found: JsonObject = shape.document.post.model_dump(by_alias=True)
        fields = {name: found[name] for name in POST_FIELDS}
        custom = cast("JsonObject", found["customFields"])
        fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
        post = import_post(
            actor=self.actor,
            document=PostDocument(
                type=shape.document.post.type,
                locale=shape.document.post.locale,
                fields=fields,
                modules=tuple(
                    ModuleDocument(
                        id="",
                        instance_id="",
                        type=module.type,
                        scope=module.scope,
                        global_slug=module.global_slug,
                        locked=module.locked,
                        props=module.props or {},
                        overrides=module.overrides or {},
                    )
                    for module in shape.document.modules
                ),
                taxonomy_term_ids=tuple(shape.document.taxonomy_term_ids),
            ),
            slug=shape.slug,
            locale=shape.locale,
            published_at=shape.document.post.published_at,
        )
        where = {"Location": f"/api/posts/{post.pk}"}
        return Response(present_post(post, self.actor), status=201, headers=where)
