"""The page of an agent's versions: set its challenger, promote a version, or let the file answer again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.admin.quality.labels import model_title
from agents_app.admin.quality.model_field import model_field
from agents_app.agent_status import Agent, find_agent
from agents_app.evaluation.challengers import NEEDED, NewVersion, promote_version, set_challenger
from agents_app.models import AgentSwitch
from agents_app.runs.prompt import prompt_versions
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import RuleViolation

_PERMISSION: Final = "agents.edit"
_MAX_VERSIONS: Final = 50


class VersionForm(forms.Form):
    """A model and a prompt of the agent."""

    model = model_field()
    prompt = forms.ChoiceField(label=gettext_lazy("Prompt version"), required=False)

    def __init__(self, *args: Any, agent_id: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = prompt_versions(agent_id).values_list("digest", "created_at")[:_MAX_VERSIONS]
        field = self.fields["prompt"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [
                ("", _("The current one")),
                *((digest, f"{digest}, {at:%Y-%m-%d}") for digest, at in rows),
            ]

    @property
    def version(self) -> NewVersion:
        return NewVersion(self.cleaned_data["model"].strip(), self.cleaned_data["prompt"])


class ChallengerForm(VersionForm):
    share = forms.IntegerField(
        label=gettext_lazy("Share of runs in percent"), min_value=1, max_value=100, initial=10
    )


class PromotionForm(VersionForm):
    confirmed = forms.BooleanField(
        label=gettext_lazy("I vouch for this version without an evaluation"), required=False
    )


@service_errors_as_http
def agent_versions(request: HttpRequest, agent_id: str) -> HttpResponse:
    """GET shows the forms; POST sets or ends the challenger, promotes, or lets the file answer again."""
    require(request, _PERMISSION)
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    action = request.POST.get("action", "") if request.method == "POST" else ""
    sent = request.POST if action in ("challenge", "promote") else None
    row = found.versions.row
    challenger = ChallengerForm(
        sent if action == "challenge" else None,
        agent_id=agent_id,
        prefix="challenger",
        initial={
            "model": row.challenger_model if row else "",
            "prompt": row.challenger_prompt_id if row else "",
            "share": row.share if row and row.share else 10,
        },
    )
    promotion = PromotionForm(
        sent if action == "promote" else None,
        agent_id=agent_id,
        prefix="champion",
        initial={name: request.GET.get(name, "") for name in ("model", "prompt")},
    )
    if _act(request, action, agent_id, challenger, promotion):
        return HttpResponseRedirect(request.path)
    context = {
        "agent": found.definition,
        "found": found,
        "row": row,
        "text": model_title(f"{found.text.provider}:{found.text.model}"),
        "challenger_form": challenger,
        "promotion_form": promotion,
        "evaluate_url": reverse("admin:agents_app_evaluation_add") + f"?agentId={agent_id}"
        if may(request, "agents.evaluate")
        else "",
        **version_facts(found),
    }
    title = _("Versions of %(agent)s") % {"agent": found.definition.name}
    response = form_page(request, "admin/quality/versions.html", AgentSwitch, context, title=title)
    if any(form.is_bound and form.errors for form in (challenger, promotion)):
        response.status_code = 422
    return response


def _act(
    request: HttpRequest,
    action: str,
    agent_id: str,
    challenger: ChallengerForm,
    promotion: PromotionForm,
) -> bool:
    """Do what was asked. Return False if there is nothing to do, or a form has errors."""
    actor = actor_of(request)
    if action == "challenge" and challenger.is_valid():
        with _errors_at(challenger, "challenger"):
            set_challenger(
                agent_id=agent_id,
                version=challenger.version,
                share=challenger.cleaned_data["share"],
                actor=actor,
            )
            messages.success(request, _("The challenger gets its share of the next runs."))
        return not challenger.errors
    if action == "promote" and promotion.is_valid():
        with _errors_at(promotion, "champion"):
            promote_version(
                agent_id=agent_id,
                version=promotion.version,
                is_confirmed=promotion.cleaned_data["confirmed"],
                actor=actor,
            )
            messages.success(request, _("Promoted the version. It answers from now on."))
        return not promotion.errors
    if action == "end":
        with service_errors_as_messages(request):
            set_challenger(agent_id=agent_id, version=None, actor=actor)
            messages.success(request, _("The challenge has ended."))
        return True
    if action == "file":
        with service_errors_as_messages(request):
            promote_version(agent_id=agent_id, version=None, actor=actor)
            messages.success(request, _("The agent’s file answers again."))
        return True
    return False


@contextmanager
def _errors_at(form: forms.Form, part: str) -> Iterator[None]:
    """Add a refusal of the service to the form, at the field that it names."""
    try:
        yield
    except RuleViolation as error:
        details = {name.removeprefix(f"{part}."): texts for name, texts in error.details.items()}
        known = {name: texts for name, texts in details.items() if name in form.fields}
        for name, texts in known.items():
            form.add_error(name, list(texts))
        if not known:
            form.add_error("confirmed" if error.code == NEEDED else None, error.message)


def version_facts(found: Agent) -> dict[str, Any]:
    """Return the facts of the champion and the challenger, for the pages of an agent."""
    versions, row = found.versions, found.versions.row
    return {
        "is_promoted": versions.is_promoted,
        "is_outdated": versions.is_outdated,
        "champion_prompt": row.champion_prompt_id if row and versions.is_promoted else "",
        "challenger": found.challenger,
        "challenger_prompt": row.challenger_prompt_id if row else "",
        "share": versions.share,
    }
