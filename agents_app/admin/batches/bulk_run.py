"""One agent on the posts that are marked in the list: which agent, what it will cost, and then the batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from agents_app.admin.run_dialog.form import (
    RunRefusal,
    asked_agent,
    asked_words,
    choice_context,
    chosen_of,
    estimate_context,
    for_dialog,
    in_dialog,
    refusal_of,
)
from agents_app.batches.creation import MAX_POSTS, create_bulk_runs
from agents_app.definitions.files import agents_for
from agents_app.definitions.schema import Scope
from agents_app.definitions.switches import only_enabled
from content.models import Post
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError
from proofroom.editorial.posts.panels import ListAction, post_list_actions
from proofroom.editorial.posts.post_pages import page

_TITLE: Final = gettext_lazy("Run an agent on several posts")


def choose(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """The page that asks which agent is to work on these posts."""
    require(request, "agents.edit")
    if len(ids) > MAX_POSTS:
        sentence = ngettext(
            "At most %(n)d post goes into one batch; choose fewer.",
            "At most %(n)d posts go into one batch; choose fewer.",
            MAX_POSTS,
        )
        if in_dialog(request):
            return bulk_page(request, (), RunRefusal(problem=sentence % {"n": MAX_POSTS}))
        messages.error(request, sentence % {"n": MAX_POSTS})
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    return bulk_page(request, ids, None)


post_list_actions.register(
    ListAction("run_agent", gettext_lazy("Run an agent…"), "agents.edit", choose)
)


@require_POST
@answers_refusals
def bulk(request: HttpRequest) -> HttpResponse:
    """`do=run` begins the batch; anything else says anew what it would use.

    Nobody begins what they saw no estimate of: chosen since, another agent is estimated first.
    """
    require(request, "agents.edit")
    ids = request.POST.getlist("ids")[: MAX_POSTS + 1]
    if request.POST.get("do") != "run":
        return bulk_page(request, ids, None)
    if request.POST.get("estimated", "") != asked_agent(request):
        sentence = _("You chose another agent. Look at what it will cost, then run it.")
        return bulk_page(request, ids, RunRefusal(problem=sentence))
    try:
        made = create_bulk_runs(
            agent_id=asked_agent(request),
            post_ids=ids,
            actor=actor_of(request),
            open_ended_context=asked_words(request),
        )
    except CmsError as error:
        return bulk_page(request, ids, refusal_of(error))
    return HttpResponseRedirect(reverse("admin:agents_app_agentbatch_change", args=[made.batch.pk]))


def bulk_page(request: HttpRequest, ids: Sequence[str], refused: RunRefusal | None) -> HttpResponse:
    agents = only_enabled(agents_for(Scope.BULK))
    uuids: list[UUID] = []
    for id_ in ids:
        with suppress(ValueError):
            uuids.append(UUID(id_))
    posts = list(Post.objects.alive().filter(pk__in=uuids).order_by("title", "pk"))
    context = {
        **choice_context(request, agents, refused),
        **estimate_context(chosen_of(request, agents), posts, asked_words(request) or ""),
        "posts": posts,
        "ids": [str(post.pk) for post in posts],
        "action": reverse("admin:agents_app_bulk"),
        "back": reverse("admin:content_post_changelist"),
    }
    status = refused.status if refused else 200
    shown = page(request, "admin/agents/bulk.html", context, title=str(_TITLE), status=status)
    return for_dialog(request, shown, "admin/agents/dialog/bulk.html")
