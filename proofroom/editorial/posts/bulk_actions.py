"""Steps with several posts of the list: published, archived, moved to the trash. Each post by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.models import Post, Status
from content.posts.publish import set_status
from content.posts.trash import delete_post
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of
from proofroom.core.errors import CmsError
from proofroom.editorial.posts.panels import ListAction

MAX_AT_ONCE: Final = 100
_REFUSALS_SHOWN: Final = 5
Step = Callable[[str, Actor], object]
Sentence = Callable[[int], str]


def _bulk(step: Step, sentence: Sentence) -> Callable[[HttpRequest, Sequence[str]], HttpResponse]:
    """An action that takes a step with each post. One that is refused keeps no other one back."""

    def run(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
        response = HttpResponseRedirect(request.get_full_path())
        if len(ids) > MAX_AT_ONCE:
            text = _("Select at most %(most)s posts.") % {"most": MAX_AT_ONCE}
            messages.error(request, text)
            return response
        actor, done, refusals = actor_of(request), 0, []
        for id_ in ids:
            try:
                step(id_, actor)
                done += 1
            except CmsError as error:
                refusals.append((id_, error.message))
        if done:
            messages.success(request, sentence(done) % {"n": done})
        titles = Post.objects.in_bulk([UUID(id_) for id_, _message in refusals])
        for id_, message in refusals[:_REFUSALS_SHOWN]:
            post = titles.get(UUID(id_))
            messages.error(request, f"{post.title}: {message}" if post else message)
        left = len(refusals) - _REFUSALS_SHOWN
        if left > 0:
            text = ngettext(
                "%(n)s other post was not changed.",
                "%(n)s other posts were not changed.",
                left,
            )
            messages.error(request, text % {"n": left})
        return response

    return run


def _publish(id_: str, actor: Actor) -> object:
    return set_status(post_id=id_, status=Status.PUBLISHED, actor=actor)


def _archive(id_: str, actor: Actor) -> object:
    return set_status(post_id=id_, status=Status.ARCHIVED, actor=actor)


def _delete(id_: str, actor: Actor) -> object:
    return delete_post(post_id=id_, actor=actor)


def _said_published(n: int) -> str:
    return ngettext("%(n)s post is published.", "%(n)s posts are published.", n)


def _said_archived(n: int) -> str:
    return ngettext("%(n)s post is archived.", "%(n)s posts are archived.", n)


def _said_deleted(n: int) -> str:
    return ngettext("%(n)s post was moved to the trash.", "%(n)s posts were moved to the trash.", n)


ACTIONS: Final = (
    ListAction(
        "publish", gettext_lazy("Publish"), "posts.publish", _bulk(_publish, _said_published)
    ),
    ListAction(
        "archive", gettext_lazy("Archive"), "posts.archive", _bulk(_archive, _said_archived)
    ),
    ListAction(
        "delete", gettext_lazy("Move to trash"), "posts.delete", _bulk(_delete, _said_deleted)
    ),
)
