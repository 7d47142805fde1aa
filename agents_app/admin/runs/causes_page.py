"""The pages that draw what caused what, for a run and for a post, as nested lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from agents_app.admin.labels import actor_label, agent_name, target_label
from agents_app.definitions.reaction_type import reaction_label
from agents_app.reactions.outcomes import outcome_of
from agents_app.runs.causes import Cause, causes_of_post, causes_of_run
from agents_app.runs.queries import find_run
from content.models import Post
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.i18n import in_words
from proofroom.core.outbox.events import find_kind
from proofroom_apps.editorial.posts.post_pages import page, post_page, read

_KINDS = {
    "event": gettext_lazy("Event"),
    "run": gettext_lazy("Run"),
    "reaction": gettext_lazy("Reaction"),
}


@dataclass(frozen=True, slots=True)
class CauseNode:
    """A cause in words. `url` is empty if it has no page. `about`: another post than the page's."""

    kind: str
    kind_label: str
    label: str
    at: datetime
    by: str = ""
    about: str = ""
    status: str = ""
    status_label: str = ""
    url: str = ""
    is_self: bool = False
    effects: list[CauseNode] = field(default_factory=list)


@require_GET
@service_errors_as_http
def show_causes_of_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Draw the tree of causes that a run belongs to."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    trees = causes_of_run(run, actor_of(request))
    context = {
        "nodes": [_node(request, one, run_id=run.pk, post_id=run.post_id) for one in trees],
        "agent": agent_name(run.agent_id),
        "back": reverse("admin:agents_app_agentrun_change", args=[run.pk]),
    }
    return page(request, "admin/agents/causes.html", context, title=_("Causes and effects"))


@require_GET
@service_errors_as_http
def show_causes_of_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Draw the trees of causes of the latest runs on a post."""
    require(request, "agents.view")
    post, layers = read(request, post_id)
    trees = causes_of_post(post, actor_of(request))
    context = {"nodes": [_node(request, one, post_id=post.pk) for one in trees]}
    template = "admin/agents/causes_of_post.html"
    title = _("Causes and effects: %(title)s") % {"title": post.title}
    return post_page(request, template, post, layers, context, title=title, tab="revisions")


def causes_url(post: Post) -> str:
    return reverse("admin:agents_app_causes_of_post", args=[post.pk])


def _node(
    request: HttpRequest, one: Cause, *, post_id: UUID | None, run_id: UUID | None = None
) -> CauseNode:
    effects = [_node(request, effect, post_id=post_id, run_id=run_id) for effect in one.effects]
    if one.run is not None:
        run = one.run
        is_elsewhere = run.post is not None and run.post.pk != post_id
        is_self = run.pk == run_id
        return CauseNode(
            kind="run",
            kind_label=str(_KINDS["run"]),
            label=agent_name(run.agent_id),
            at=run.created_at,
            by=run.by_name,
            about=run.post.title if run.post is not None and is_elsewhere else "",
            status=run.outcome,
            status_label=run.get_outcome_display(),
            url="" if is_self else reverse("admin:agents_app_agentrun_change", args=[run.pk]),
            is_self=is_self,
            effects=effects,
        )
    if one.reaction is not None:
        reaction = one.reaction
        status = outcome_of(reaction).status
        return CauseNode(
            kind="reaction",
            kind_label=str(_KINDS["reaction"]),
            label=f"{reaction_label(reaction.kind)} {target_label(reaction.kind, reaction.target)}".strip(),
            at=reaction.created_at,
            status=status,
            status_label=in_words(status),
            url=reverse("admin:proofroom_webhooks_delivery_change", args=[reaction.delivery_id])
            if reaction.delivery_id is not None and may(request, "webhooks.manage")
            else "",
        )
    kind = find_kind(one.event.name) if one.event is not None else None
    # The user may know that an event was there, but not which, without its permission.
    is_known = kind is not None and may(request, kind.permission)
    return CauseNode(
        kind="event",
        kind_label=str(_KINDS["event"]),
        label=in_words(kind.label) if kind is not None and is_known else "",
        at=one.at,
        by=actor_label(one.event) if one.event is not None and is_known else "",
        effects=effects,
    )
