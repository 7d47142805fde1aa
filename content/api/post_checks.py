"""`/api/posts/:id/checks`: what should be corrected before a post is published."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, NotRequired

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content.models import Layer
from content.post_checks.results import CheckResult, check_post
from content.store.layer_state import open_layers
from content.store.post_queries import require_post
from proofroom.core.api.answer import described, one_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

LIVE: Final = "source"
CHECK_LAYERS: Final = (LIVE, *Layer.values)
LAYER_PARAMETER: Final = [
    query_parameter(
        "layer", "The layer to check.", {**choice_schema(*CHECK_LAYERS), "default": LIVE}
    )
]


class CheckAnswer(TypedDict):
    """A result of a check: `ok` once, or one of its failures."""

    check: Annotated[str, Field(description="The name of the check.")]
    level: Annotated[
        str,
        one_of(["ok", "warn", "block"]),
        Field(description="`block` prevents the publication."),
    ]
    message: str
    path: NotRequired[
        Annotated[str, Field(description="The place of the failure; absent for the whole post.")]
    ]


class ChecksAnswer(TypedDict):
    """The results of all checks that are on for the type of the post."""

    data: list[CheckAnswer]


class PostCheckViewSet(ApiViewSet):
    """The checks of one post."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "posts.view"}

    @extend_schema(parameters=LAYER_PARAMETER, responses=described(ChecksAnswer))
    def retrieve(self, request: Request, post_id: str) -> Response:
        """Check the live content of a post, or a layer."""
        name = request.query_params.get("layer", LIVE)
        if name not in CHECK_LAYERS:
            raise invalid("layer", f"layer must be one of: {', '.join(CHECK_LAYERS)}.")
        post = require_post(post_id, self.actor)
        document = open_layers(post).document(None if name == LIVE else Layer(name))
        answer: ChecksAnswer = {"data": [_present(one) for one in check_post(post, document)]}
        return Response(answer)


def _present(result: CheckResult) -> CheckAnswer:
    found: CheckAnswer = {
        "check": result.check.name,
        "level": result.level,
        "message": result.message,
    }
    if result.path:
        found["path"] = result.path
    return found
