"""`/api/posts/:id/comments`, `/api/media/:id/comments` and `/api/comments/:id`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts.models import USERNAME_MAX
from proofroom.core.api.answer import Answer, list_of, one_of
from proofroom.core.api.body import Body, Id, Moment, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom_apps.comments.mentions import MentionChoice, mention_choices
from proofroom_apps.comments.models import PATH_MAX, QUOTE_MAX, CommentStatus
from proofroom_apps.comments.presenters import CommentAnswer, present_comment, present_threads
from proofroom_apps.comments.queries import require_asset, require_post, threads_of
from proofroom_apps.comments.services import (
    BODY_MAX,
    Passage,
    change_comment,
    comment_on_asset,
    comment_on_post,
    delete_comment,
)

STATUS: Final = query_parameter(
    "status", "Status of the thread.", choice_schema(*CommentStatus.values)
)
SEARCH: Final = query_parameter(
    "search", "Part of a name.", {"type": "string", "maxLength": USERNAME_MAX}
)
PATH: Final = query_parameter("path", "On this field.", {"type": "string", "maxLength": PATH_MAX})


def _assignee(value: object) -> object:
    """Accept an assignee as it is answered, so that what was read can be sent back."""
    if isinstance(value, dict) and set(value) <= {"id", "username"}:
        return value.get("id")
    if isinstance(value, bool):
        raise ValueError("must be a user id or a username")
    return value


# Lengths are validated in the service, which has better messages.
Text = Annotated[Words, Field(json_schema_extra={"maxLength": BODY_MAX})]
Assignee = Annotated[
    int | Words | None, BeforeValidator(_assignee), Field(description="User id or username.")
]
PathText = Annotated[Words, Field(json_schema_extra={"maxLength": PATH_MAX})]
Quote = Annotated[Words, Field(json_schema_extra={"maxLength": QUOTE_MAX})]


class PassageBody(Body):
    """The words of a passage as they are read, and some of the text before and after."""

    quote: Quote
    prefix: Quote = ""
    suffix: Quote = ""


class NewComment(Body, answered_by=CommentAnswer):
    """A comment, or with `parentId` a reply. `@username` and `@agent:<id>` in `body` are mentions."""

    body: Text
    path: PathText | None = None
    passage: PassageBody | None = None
    change_path: PathText | None = None
    parent_id: Id | None = None
    assignee: Assignee = None
    due_at: Moment | None = None


class CommentChange(Body, answered_by=CommentAnswer):
    """Changes of a comment. Only the author may change `body`; agents and AI clients only set `status`."""

    status: Annotated[Words, one_of(CommentStatus.values)] = Field(default_factory=str)
    assignee: Assignee = None
    due_at: Moment | None = None
    body: Text = Field(default_factory=str)


class CommentDeletedAnswer(Answer):
    """The deleted comment."""

    id: UUID


class MentionChoiceAnswer(Answer):
    """A person or agent to mention: `mention` is what to write in a comment."""

    kind: Annotated[str, one_of(("person", "agent"))]
    mention: str
    name: str


class MentionChoicesAnswer(Answer):
    """At most eight people and eight agents."""

    data: list[MentionChoiceAnswer]


def _words_in(request: Request) -> str:
    words = str(request.query_params.get("search", ""))
    if len(words) > USERNAME_MAX or "\x00" in words:
        raise invalid("search", f"search can have at most {USERNAME_MAX} characters.")
    return words


def _present_choices(found: Iterable[MentionChoice]) -> Response:
    data = [MentionChoiceAnswer.model_validate(choice) for choice in found]
    return Response(MentionChoicesAnswer(data=data))


def _read_new(request: Request) -> dict[str, Any]:
    given = read_body(request, NewComment)
    passage = given.passage
    return {
        "body": given.body,
        "path": given.path or "",
        "passage": None if passage is None else Passage(**passage.model_dump()),
        "change_path": given.change_path or "",
        "parent_id": given.parent_id,
        "assignee": given.assignee,
        "due_at": given.due_at,
    }


def _path_in(request: Request) -> str:
    path = str(request.query_params.get("path", ""))
    if len(path) > PATH_MAX or "\x00" in path:
        raise invalid("path", f"path can have at most {PATH_MAX} characters.")
    return path


class PostCommentViewSet(ApiViewSet):
    """Comments on a post: list, start a thread, reply."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "comments.view",
        "create": "comments.write",
    }
    path_schemas: ClassVar = {"post_id": UUID_TEXT}

    @extend_schema(
        parameters=[STATUS, PATH, *PAGES],
        responses=list_of(CommentAnswer, "Threads of a post, newest first."),
    )
    def list(self, request: Request, post_id: str) -> Response:
        """List the threads of a post, newest first."""
        page = page_of(request)
        status = choice_in(request, "status", CommentStatus.values) or ""
        path = _path_in(request)
        post = require_post(post_id, self.actor)
        rows = threads_of(post, status=status, path=path)
        return Response(page.envelope(present_threads(post, list(rows[page.slice])), rows.count()))

    @extend_schema(request=NewComment, responses={201: CommentAnswer})
    def create(self, request: Request, post_id: str) -> Response:
        """Comment on a post, a field, a passage or a proposed change, or reply."""
        written = comment_on_post(post_id=post_id, actor=self.actor, **_read_new(request))
        return Response(present_comment(written.comment, written.warnings), status=201)


class MediaCommentViewSet(ApiViewSet):
    """Comments on a media file: list, start a thread, reply."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "comments.view",
        "create": "comments.write",
    }
    path_schemas: ClassVar = {"media_id": UUID_TEXT}

    @extend_schema(
        parameters=[STATUS, *PAGES],
        responses=list_of(CommentAnswer, "Threads of a post, newest first."),
    )
    def list(self, request: Request, media_id: str) -> Response:
        """List the threads of a file, newest first."""
        page = page_of(request)
        status = choice_in(request, "status", CommentStatus.values) or ""
        rows = threads_of(require_asset(media_id, self.actor), status=status)
        return Response(page.envelope(present_threads(None, list(rows[page.slice])), rows.count()))

    @extend_schema(request=NewComment, responses={201: CommentAnswer})
    def create(self, request: Request, media_id: str) -> Response:
        """Comment on a file, or reply. Files have no `path`, `passage` or `changePath`."""
        written = comment_on_asset(asset_id=media_id, actor=self.actor, **_read_new(request))
        return Response(present_comment(written.comment, written.warnings), status=201)


class PostMentionViewSet(ApiViewSet):
    """People and agents that a comment on a post can mention."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "comments.write"}
    path_schemas: ClassVar = {"post_id": UUID_TEXT}

    @extend_schema(parameters=[SEARCH], responses=MentionChoicesAnswer)
    def retrieve(self, request: Request, post_id: str) -> Response:
        """List people who can see the post, and agents that you may run on it."""
        words = _words_in(request)
        return _present_choices(
            mention_choices(self.actor, require_post(post_id, self.actor), words)
        )


class MediaMentionViewSet(ApiViewSet):
    """People that a comment on a media file can mention."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "comments.write"}
    path_schemas: ClassVar = {"media_id": UUID_TEXT}

    @extend_schema(parameters=[SEARCH], responses=MentionChoicesAnswer)
    def retrieve(self, request: Request, media_id: str) -> Response:
        """List people who can see the file."""
        words = _words_in(request)
        return _present_choices(
            mention_choices(self.actor, require_asset(media_id, self.actor), words)
        )


class CommentViewSet(ApiViewSet):
    """One comment: change and delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "update": "comments.write",
        "destroy": "comments.write",
    }
    path_schemas: ClassVar = {"comment_id": UUID_TEXT}

    @extend_schema(request=CommentChange, responses=CommentAnswer)
    def update(self, request: Request, comment_id: str) -> Response:
        """Resolve or reopen a thread, assign it, or change your own words."""
        given = read_body(request, CommentChange)
        changes = given.model_dump(exclude_unset=True)
        written = change_comment(comment_id=comment_id, actor=self.actor, **changes)
        return Response(present_comment(written.comment, written.warnings))

    @extend_schema(responses=CommentDeletedAnswer)
    def destroy(self, request: Request, comment_id: str) -> Response:
        """Delete a comment permanently, and with the first of a thread its replies."""
        id_ = delete_comment(comment_id=comment_id, actor=self.actor)
        return Response(CommentDeletedAnswer(id=id_))
