"""`/api/posts/:id/translations`: a post in other languages, with values older than the source."""

from __future__ import annotations

from typing import Annotated, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import StatusText
from content.api.post_answers import MADE, PostAnswer
from content.document.post_fields import SLUG_MAX, TITLE_MAX
from content.models import Post
from content.presenters.whole_post import present_post
from content.store import post_queries
from content.store.post_queries import require_post
from content.store.scopes import visible_to
from content.store.translation_status import TranslationState, states_of
from content.translations.translate import create_translation, mark_up_to_date
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.core.validation.limits import LOCALE_MAX

_MOST_PATHS = 5_000


class UntranslatedModuleAnswer(Answer):
    """A source module that the translation lacks."""

    source_post_module_id: UUID
    type: str


class OrphanedModuleAnswer(Answer):
    """A module of the translation whose source is gone."""

    post_module_id: UUID
    source_post_module_id: UUID


class TranslationStateAnswer(Answer):
    """A translation, compared with the post it was made from."""

    id: UUID
    locale: str
    slug: str
    title: str
    status: StatusText
    url: str = Field(validation_alias="path")
    translated_from: UUID | None = Field(
        validation_alias="translated_from_id",
        description="The post it was translated from; null for the original.",
    )
    stale_paths: list[str] = Field(
        description="Values whose source changed after they were translated."
    )
    untranslated_paths: list[str] = Field(
        description="Texts copied from the source and not translated yet."
    )
    new_modules: list[UntranslatedModuleAnswer]
    removed_modules: list[OrphanedModuleAnswer]


class TranslationListAnswer(Answer):
    """The same post in other languages."""

    data: list[TranslationStateAnswer]
    meta: MetaAnswer


class NewTranslation(Body):
    """`slug` and `title` default to the post's."""

    locale: Annotated[Words, Field(min_length=1, max_length=LOCALE_MAX)]
    slug: Annotated[Words, Field(min_length=1, max_length=SLUG_MAX)] | None = None
    title: Annotated[Words, Field(min_length=1, max_length=TITLE_MAX)] | None = None


class UpToDate(Body):
    """Stale and untranslated paths, and `modules.<id>` for entries of `newModules` or `removedModules`."""

    paths: Annotated[
        list[Annotated[Words, Field(max_length=300)]],
        Field(min_length=1, max_length=_MOST_PATHS),
    ]


class TranslationViewSet(ApiViewSet):
    """Translations of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "posts.translate",
        "up_to_date": "posts.translate",
    }

    @extend_schema(parameters=PAGES, responses=TranslationListAnswer)
    def list(self, request: Request, post_id: str) -> Response:
        """List the other languages of a post, each with its stale values."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        seen = visible_to(post_queries.listed_posts(), self.actor)
        others = seen.filter(translation_group=post.translation_group)
        rows = others.exclude(pk=post.pk).order_by("locale")
        shown = list(rows[page.slice])
        states = states_of(shown)
        data = [_answer(row, states.get(row.pk, TranslationState())) for row in shown]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(parameters=MADE, request=NewTranslation, responses={201: described(PostAnswer)})
    def create(self, request: Request, post_id: str) -> Response:
        """Create a draft in another language with the post's content, to translate."""
        body = read_body(request, NewTranslation)
        post = create_translation(
            post_id=require_post(post_id, self.actor).pk,
            locale=body.locale,
            slug=body.slug,
            title=body.title,
            actor=self.actor,
        )
        where = {"Location": f"/api/posts/{post.pk}"}
        return Response(present_post(post, self.actor), status=201, headers=where)

    @extend_schema(request=UpToDate, responses={200: TranslationStateAnswer})
    def up_to_date(self, request: Request, post_id: str) -> Response:
        """Mark the translation as correct although its source changed or is identical."""
        body = read_body(request, UpToDate)
        post = require_post(post_id, self.actor)
        state = mark_up_to_date(post_id=post.pk, actor=self.actor, paths=body.paths)
        return Response(_answer(post, state))


def _answer(post: Post, state: TranslationState) -> TranslationStateAnswer:
    return TranslationStateAnswer.of(
        post,
        stale_paths=state.stale_paths,
        untranslated_paths=state.untranslated_paths,
        new_modules=[
            UntranslatedModuleAnswer(source_post_module_id=UUID(module.id), type=module.type)
            for module in state.new_modules
        ],
        removed_modules=[
            OrphanedModuleAnswer(post_module_id=UUID(own), source_post_module_id=UUID(source))
            for own, source in state.removed_modules
        ],
    )
