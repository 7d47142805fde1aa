"""The pages and dialogs that start an agent on a post, or without one."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from agents_app.admin.labels import agent_name
from agents_app.admin.run_dialog.form import (
    asked_agent,
    asked_words,
    begin,
    begins,
    choice_context,
    estimate_context,
    for_dialog,
    selected_agent,
)
from agents_app.definitions.agents import agents_for, only_enabled, translators
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from agents_app.runs.field_scope import MAX_ONLY_FIELDS, ONLY_FIELDS
from agents_app.runs.scopes import visible_runs
from content.document.labels import label_of, module_names
from content.layers import Layers
from content.models import Post
from content.store.scopes import changeable_by
from content.translations.source_comparison import texts_to_translate
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import Scoped
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.i18n.languages import language_name
from proofroom_apps.editorial.posts.post_pages import page, post_page, post_url, read


@service_errors_as_http
def start(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET: show the agents, `?agent=` selects one. POST: start a run."""
    require(request, "agents.dropdown")
    post, layers = read(request, post_id)
    fields = asked_fields(request, post, layers)
    refused = None
    if begins(request):
        answer = begin(
            lambda: create_run(
                agent_id=asked_agent(request),
                scope=Scope.DROPDOWN,
                actor=actor_of(request),
                post_id=post.pk,
                context={ONLY_FIELDS: list(fields)} if fields else None,
                open_ended_context=asked_words(request),
            )
        )
        if isinstance(answer, HttpResponse):
            return answer
        refused = answer
    agents = only_enabled(translators() if fields else agents_for(Scope.DROPDOWN))
    names = module_names(layers.ai_review.document)
    context = {
        "fields": [(path, label_of(path, layers.ai_review.document, names)) for path in fields],
        **choice_context(request, agents, refused),
        **estimate_context(selected_agent(request, agents), [post], asked_words(request) or ""),
        "action": reverse("admin:agents_app_run_start", args=[post.pk]),
        "back": post_url("change", post),
        "waiting": len(layers.ai_review.changes),
        "hides_ask": True,
    }
    response = post_page(
        request,
        "admin/agents/start.html",
        post,
        layers,
        context,
        title=_("Run an agent"),
        tab="",
        status=refused.status if refused else 200,
    )
    return for_dialog(request, response, "admin/agents/dialog/start.html")


def asked_fields(request: HttpRequest, post: Post, layers: Layers) -> list[str]:
    """Return the fields of a translation to limit the run to. `stale` selects all outdated or
    untranslated texts.
    """
    values = request.POST.getlist("fields") or request.GET.getlist("fields")
    if values != ["stale"]:
        return list(dict.fromkeys(values))
    found = texts_to_translate(post, layers.ai_review.document)[:MAX_ONLY_FIELDS]
    if not found:
        # An empty list would mean no limit, and the run could change any field.
        raise NotFound(_("No text in this translation is out of date or untranslated."))
    return found


_POSTS: Final = 100
_EARLIER: Final = 5


@service_errors_as_http
def ask(request: HttpRequest) -> HttpResponse:
    """GET: show the agents, `?post=` selects a post. POST: start a run."""
    require(request, "agents.global")
    refused = None
    if begins(request):
        answer = begin(
            lambda: create_run(
                agent_id=asked_agent(request),
                scope=Scope.GLOBAL,
                actor=actor_of(request),
                post_id=request.POST.get("post") or None,
                open_ended_context=asked_words(request),
            )
        )
        if isinstance(answer, HttpResponse):
            return answer
        refused = answer
    actor = actor_of(request)
    seen = visible_runs(AgentRun.objects.all(), actor, actor.user.pk)
    latest = seen.filter(scope=Scope.GLOBAL).only(
        "agent_id", "status", "declined", "created_at", "open_ended_context"
    )
    agents = only_enabled(agents_for(Scope.GLOBAL))
    own = chosen_post(request)
    context = {
        **choice_context(request, agents, refused),
        **estimate_context(
            selected_agent(request, agents), [own] if own else [], asked_words(request) or ""
        ),
        "action": reverse("admin:agents_app_ask"),
        "own_post": own,
        "posts": posts_to_choose(own, actor),
        "earlier": [(run, agent_name(run.agent_id)) for run in latest[:_EARLIER]],
        "hides_ask": True,
    }
    status = refused.status if refused else 200
    response = page(
        request, "admin/agents/ask.html", context, title=_("Ask an agent"), status=status
    )
    return for_dialog(request, response, "admin/agents/dialog/ask.html")


def chosen_post(request: HttpRequest) -> Post | None:
    """Return the selected post, or the one in the URL; None without one."""
    chosen = request.POST.get("post", "") or request.GET.get("post", "")
    return find_by_id(changeable_by(Post.objects.alive(), actor_of(request)), chosen)


def posts_to_choose(own: Post | None, who: Scoped) -> list[tuple[str, str, bool]]:
    """Return the most recently changed posts as choices, including the selected one."""
    alive = changeable_by(Post.objects.alive(), who).order_by("-updated_at")
    rows = list(alive.values_list("pk", "title", "locale")[:_POSTS])
    if own is not None and own.pk not in {row[0] for row in rows}:
        # The selected post may be older than the listed ones.
        rows = [(own.pk, own.title, own.locale), *rows]
    pk_of_own = own.pk if own else None
    return [
        (str(pk), f"{title} ({language_name(locale)})", pk == pk_of_own)
        for pk, title, locale in rows
    ]
