"""`/api/public/…`: live, published content for frontends and CDNs. Nothing staged is ever read here."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, ClassVar, Final, NotRequired
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict, get_type_hints

from content import presenters
from content.api import post_reads
from content.api.cached_delivery import DeliveredViewSet
from content.api.post_answers import LIVE_PARAMETERS, ListedLivePostAnswer, LivePostFields
from content.layers.state import post_not_found
from content.media_usage import media_of
from content.models import Post
from content.models.post import VARIATION_PATTERN
from content.posts import queries
from content.presenters.posts import LiveModuleAnswer
from content.variations.arms import Arm, as_original, find_published
from media.presenters import FocalPoint, Variants
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.schema import query_parameter
from proofroom.core.errors import invalid


class DeliveredMediaAnswer(TypedDict):
    """A file that a post uses. `variants` are there once they are made."""

    url: str
    mime: str
    alt: str
    width: Annotated[int, Field(ge=1)] | None
    height: Annotated[int, Field(ge=1)] | None
    variants: Variants
    darkVariants: Variants
    focalPoint: FocalPoint | None


class ArmAnswer(TypedDict):
    """A running variation."""

    id: UUID
    variation: str
    weight: Annotated[
        int, Field(ge=1, le=100, description="Percent of the visitors; the post has the rest.")
    ]


class DeliveredPostAnswer(LivePostFields):
    """A published post, with the files that its fields and modules name, by id."""

    modules: list[LiveModuleAnswer]
    media: dict[str, DeliveredMediaAnswer]
    variations: NotRequired[
        Annotated[list[ArmAnswer], Field(description="While variations of it run.")]
    ]
    variationOf: NotRequired[
        Annotated[UUID, Field(description="The post in whose place this variation is shown.")]
    ]
    variation: NotRequired[Annotated[str, Field(description="The name of this variation.")]]


LISTED: Final = frozenset(get_type_hints(ListedLivePostAnswer))
LISTABLE: Final = LISTED | {"media"}
"""What a list can be asked for: the files are not there unless `fields` names them."""
WHOLE: Final = frozenset(get_type_hints(DeliveredPostAnswer))
FIELDS_MAX: Final = 500


def _fields(names: frozenset[str]) -> OpenApiParameter:
    one = "|".join(sorted(names))
    return query_parameter(
        "fields",
        f"Only these, with commas between them; all without it: {', '.join(sorted(names))}.",
        {"type": "string", "maxLength": FIELDS_MAX, "pattern": f"^({one})(,({one}))*$"},
    )


FIELDS: Final = _fields(WHOLE)
VARIATION: Final = query_parameter(
    "variation",
    "The running variation of that name in the place of the post; the post itself where none runs.",
    {"type": "string", "pattern": VARIATION_PATTERN},
)
LIST_FIELDS: Final = _fields(LISTABLE)


def _sparse(name: str, doc: str, hints: dict[str, Any]) -> Any:
    """The shape of what answers some of these keys."""
    shape = TypedDict(name, hints, total=False)  # type: ignore[misc]  # a class made at run time
    shape.__doc__ = doc
    return shape


SparseLivePost: Final = _sparse(
    "SparseLivePost",
    "A published post. Everything is there unless `fields` asks for less.",
    get_type_hints(DeliveredPostAnswer, include_extras=True),
)
SparseListedLivePost: Final = _sparse(
    "SparseListedLivePost",
    "A published post in a list. Everything but `media` is there unless `fields` asks for less, or for that too.",
    {
        **get_type_hints(ListedLivePostAnswer, include_extras=True),
        "media": dict[str, DeliveredMediaAnswer],
    },
)
_NAME: Final = re.compile(VARIATION_PATTERN, re.ASCII)


class SparseLivePostListAnswer(Answer):
    """Published posts."""

    data: list[SparseListedLivePost]  # type: ignore[valid-type]  # a class made at run time
    meta: MetaAnswer


class PublicPostViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }

    @extend_schema(
        parameters=[*LIVE_PARAMETERS, LIST_FIELDS],
        responses=SparseLivePostListAnswer,
    )
    def list(self, request: Request) -> Response:
        """Published posts with their modules, or of each the `fields` that are asked for."""
        fields = fields_of(request, LISTABLE)
        return Response(post_reads.post_list(request, staged=False, fields=fields))

    @extend_schema(parameters=[FIELDS, VARIATION], responses=described(SparseLivePost))
    def retrieve(self, request: Request, post_id: str) -> Response:
        """One published post, or the `fields` of it that are asked for."""
        try:
            found = find_published(UUID(post_id))
        except ValueError:
            found = None
        if found is None:
            raise post_not_found(post_id)
        post, arms = found
        fields = fields_of(request, WHOLE)
        return Response(delivered_post(post, fields, arms=arms, variation=variation_of(request)))


def delivered_post(
    original: Post,
    fields: Collection[str] | None = None,
    *,
    arms: Sequence[Arm] = (),
    variation: str = "",
) -> dict[str, Any]:
    """A published post as frontends get it, or its running variation in its place.

    What `fields` leave out is not read.
    """
    fields = WHOLE if fields is None else frozenset(fields)
    arm = next((arm for arm in arms if arm.name == variation), None)
    # The variation where its original stands; the original where it was just stopped.
    shown = queries.find_post(arm.post_id) if arm is not None else None
    post = as_original(shown, original) if shown is not None else original
    wire = post_reads.select_fields(presenters.post_fields(post), fields)
    if arms:
        tested: presenters.Wire = {
            "variations": [
                {"id": arm.post_id, "variation": arm.name, "weight": arm.weight} for arm in arms
            ]
        }
        if post.variation_of_id is not None:
            tested |= {"variationOf": post.variation_of_id, "variation": post.variation}
        wire |= post_reads.select_fields(tested, fields)
    if fields & {"modules", "media"}:
        modules = queries.module_rows([post.pk])
        if "modules" in fields:
            wire["modules"] = [presenters.live_module(row) for row in modules.get(post.pk, [])]
        if "media" in fields:
            wire["media"] = media_of({post.pk: post.locale}, modules)[post.pk]
    if "taxonomyTermIds" in fields:
        wire["taxonomyTermIds"] = queries.term_ids(post.pk)
    if "translations" in fields:
        others = queries.translations_of(original, only_published=True)
        wire["translations"] = presenters.translations(others)
    return wire


def variation_of(request: Request) -> str:
    """The variation that the query names; empty for none. 422 for what names none."""
    name = request.query_params.get("variation", "")
    if name and not _NAME.fullmatch(name):
        raise invalid("variation", "variation names one, like B.")
    return name


def fields_of(request: Request, known: Collection[str]) -> Collection[str] | None:
    """Return what the query asks for of a post; None for all of it. 422 where a name is not one of `known`."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    wanted = {name.strip() for name in text[:FIELDS_MAX].split(",")}
    unknown = sorted(wanted.difference(known))
    if unknown or len(text) > FIELDS_MAX:
        raise invalid("fields", f"fields names some of: {', '.join(sorted(known))}; with commas.")
    return wanted
