"""`/api/post-templates`: templates of posts."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.document.labels import module_label
from proofroom.core.api.answer import list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.definitions import find_post_type
from proofroom_apps.snippets.models import PostTemplate
from proofroom_apps.snippets.services import MANAGE, VIEW
from proofroom_apps.snippets.snippet_fields import (
    NewPostTemplate,
    PostTemplateAnswer,
    PostTemplateGoneAnswer,
    TemplateModuleAnswer,
)
from proofroom_apps.snippets.templates import create_template, delete_template


class PostTemplateViewSet(ApiViewSet):
    """Templates of posts: list, create from a post, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": VIEW,
        "create": MANAGE,
        "destroy": MANAGE,
    }
    conditional = frozenset({"list"})

    @extend_schema(
        parameters=[
            query_parameter("type", "Templates for posts of this type; all without it."),
            *PAGES,
        ],
        responses=list_of(PostTemplateAnswer, "Templates, by name."),
    )
    def list(self, request: Request) -> Response:
        """List templates by name, with their modules."""
        page = page_of(request)
        rows = PostTemplate.objects.order_by("name")
        type_ = request.query_params.get("type")
        if type_ is not None:
            rows = rows.filter(type=find_post_type(type_).name)
        return Response(page.envelope([_present(row) for row in rows[page.slice]], rows.count()))

    @extend_schema(request=NewPostTemplate, responses={201: PostTemplateAnswer})
    def create(self, request: Request) -> Response:
        """Create a template from the live content of a post."""
        body = read_body(request, NewPostTemplate)
        row = create_template(
            actor=self.actor,
            post_id=body.post,
            name=body.name,
            description=body.description or "",
        )
        return Response(_present(row), status=201)

    @extend_schema(responses={200: PostTemplateGoneAnswer})
    def destroy(self, request: Request, template_id: str) -> Response:
        """Delete a template. Posts that were started from it stay."""
        return Response(
            PostTemplateGoneAnswer(id=delete_template(template_id=template_id, actor=self.actor))
        )


def _present(row: PostTemplate) -> PostTemplateAnswer:
    outline = [
        TemplateModuleAnswer(type=one["type"], label=module_label(one["type"]))
        for one in row.modules
    ]
    return PostTemplateAnswer.of(row, modules=outline)
