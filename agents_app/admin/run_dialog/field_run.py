"""Agents on one field of a post: the links next to fields, and the page they open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from agents_app.admin.field_values import field_view
from agents_app.admin.labels import agent_name
from agents_app.admin.run_dialog.form import (
    RunRefusal,
    asked_agent,
    asked_words,
    begin,
    begins,
    choice_context,
    enabled_on,
    estimate_context,
    for_dialog,
    selected_agent,
)
from agents_app.admin.run_dialog.retry import (
    RetryOption,
    requested_note,
    requested_retry,
    retry_context,
    sort_author_first,
)
from agents_app.definitions.agents import agents_for, only_enabled
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.runs.creation import MAX_FIELD_KEY_CHARACTERS, create_once, create_run
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.retry import retry_change
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX
from content.layers import Layers
from content.models import Post
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.input_validation import parse_uuid
from proofroom_apps.editorial.posts.extensions import FieldAction, FieldActions, FieldPlace
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read

_EARLIER: Final = 5


@dataclass(frozen=True, slots=True)
class FieldRequest:
    """The field a page is about. `retry` is set if a proposal for it is to be tried again."""

    post: Post
    layers: Layers
    target: FieldTarget
    agents: Sequence[AgentDefinition]
    retry: RetryOption | None


def field_actions(request: HttpRequest, post: Post) -> FieldActions:
    """Return a function that lists the agents of a field. One query for the whole form."""
    agents: Sequence[AgentDefinition] = ()
    if may(request, "agents.field", post):
        agents = enabled_on(request, agents_for(Scope.FIELD))

    def of(place: FieldPlace) -> list[FieldAction]:
        name = place.key.removeprefix("post.")
        is_agents_field = name.startswith(CUSTOM_PREFIX) or name in AGENT_FIELD_NAMES
        # Agents may only propose fields on this list, so other fields get no link.
        if not place.module_id and not is_agents_field:
            return []
        serving = [
            agent
            for agent in agents
            if any(
                entry.serves(field_type=place.kind, field_key=place.key, form_slug=None)
                for entry in agent.entries(Scope.FIELD)
            )
        ]
        words = _("Ask %(agent)s again") if place.retried_in else _("Ask %(agent)s")
        return [
            FieldAction(
                words % {"agent": agent.name},
                field_url(post, place.key, place.module_id, agent.id, place.retried_in),
                agent.id,
            )
            for agent in sort_author_first(serving, place.made_by)
        ]

    return of


def field_url(
    post: Post, key: str, module_id: str, agent_id: str = "", retried_in: str = ""
) -> str:
    parameters = {
        "post": str(post.pk),
        "field": key,
        "module": module_id,
        "again": retried_in,
        "agent": agent_id,
    }
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"{reverse('admin:agents_app_ask_field')}?{query}"


@service_errors_as_http
def ask_field(request: HttpRequest) -> HttpResponse:
    """`?post=&field=&module=`. GET: show the field and its agents. POST: start a run.

    `&again=` names the layer whose proposal is to be tried again; the agent that made it is listed
    first.
    """
    require(request, "agents.field")
    try:
        asked = read_request(request)
    except RuleViolation as error:
        messages.error(request, error.message)
        return HttpResponseRedirect(post_url("change", request.GET["post"]))
    refused = None
    if begins(request):
        answer = begin(lambda: start_run(request, asked))
        if isinstance(answer, HttpResponse):
            return answer
        refused = answer
    return field_page(request, asked, refused)


def read_request(request: HttpRequest) -> FieldRequest:
    """Read the post and field of the URL. Raises `Http404` without a post, `RuleViolation` for an unknown field."""
    key, module = request.GET.get("field", ""), request.GET.get("module", "")
    post_id = parse_uuid(request.GET.get("post"))
    if post_id is None:
        raise Http404(_("Post not found."))
    if len(key) > MAX_FIELD_KEY_CHARACTERS:
        raise Http404(_("Field not found."))
    post, layers = read(request, post_id)
    target = find_field(layers.ai_review.document, key, module or None)
    agents = only_enabled(agents_for(Scope.FIELD, target.field_type, key))
    retry = requested_retry(request, layers, target)
    if retry is not None:
        agents = sort_author_first(agents, retry.made_by)
    return FieldRequest(post, layers, target, agents, retry)


def start_run(request: HttpRequest, asked: FieldRequest) -> AgentRun:
    agent_id, actor = asked_agent(request), actor_of(request)

    def start(run_id: UUID | None) -> AgentRun:
        if asked.retry is not None:
            return retry_change(
                layers=asked.layers,
                target=asked.target,
                layer=asked.retry.layer,
                agent_id=agent_id,
                actor=actor,
                note=requested_note(request),
                run_id=run_id,
            )
        return create_run(
            agent_id=agent_id,
            scope=Scope.FIELD,
            actor=actor,
            post_id=asked.post.pk,
            field_key=asked.target.key,
            post_module_id=asked.target.module_id,
            open_ended_context=asked_words(request),
            # The answers are first compared side by side; the user stages the chosen one.
            stages_value=False,
            run_id=run_id,
        )

    input_fields = (
        {"open_ended_context": asked_words(request) or ""}
        if asked.retry is None
        else {"note": requested_note(request)}
    )
    wish = {"agent_id": agent_id, "field_key": asked.target.key, **input_fields}
    # The form's token keeps a double click from starting, and paying, two runs.
    return create_once(request.POST.get("once", ""), actor=actor, wish=wish, start=start)


def field_page(
    request: HttpRequest, asked: FieldRequest, refused: RunRefusal | None
) -> HttpResponse:
    document = asked.layers.ai_review.document
    value = asked.target.value(document)
    if asked.retry is not None and asked.retry.earlier is not None:
        value = asked.retry.earlier.value
    view = field_view(asked.target, document, [value], actor_of(request))
    retried_in = asked.retry.layer if asked.retry is not None else ""
    context = {
        **choice_context(request, asked.agents, refused),
        **estimate_context(
            selected_agent(request, asked.agents), [asked.post], asked_words(request) or ""
        ),
        "field": view,
        "is_empty": value in (None, "", [], {}),
        "stretches": view.now(value),
        "action": field_url(
            asked.post, asked.target.key, asked.target.module_id or "", retried_in=retried_in
        ),
        "back": post_url("change", asked.post),
        "once": request.POST.get("once") or uuid4(),
        **retry_context(request, asked.retry, asked.layers, asked.target, asked.agents),
        "earlier": earlier_runs(asked),
    }
    response = post_page(
        request,
        "admin/agents/field.html",
        asked.post,
        asked.layers,
        context,
        title=(_("Try again with %(field)s") if asked.retry else _("Ask an agent about %(field)s"))
        % {"field": view.label},
        tab="",
        status=refused.status if refused else 200,
    )
    return for_dialog(request, response, "admin/agents/dialog/field.html")


def earlier_runs(asked: FieldRequest) -> list[tuple[AgentRun, str]]:
    """Return the latest runs on this field."""
    runs = AgentRun.objects.filter(
        post=asked.post,
        scope=Scope.FIELD,
        field_key=asked.target.key,
        post_module_id=asked.target.module_id or "",
    )
    latest = runs.only(
        "agent_id", "status", "declined", "created_at", "open_ended_context", "note"
    )[:_EARLIER]
    return [(run, agent_name(run.agent_id)) for run in latest]
