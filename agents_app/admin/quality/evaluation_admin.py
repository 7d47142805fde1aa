"""Evaluations in the admin: the list, the form that starts one, and its page with progress and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.admin.labels import agent_name, format_money
from agents_app.admin.quality.labels import field_title, model_title, share_label
from agents_app.admin.quality.model_field import model_field
from agents_app.definitions.agents import all_agents
from agents_app.evaluation.questions import StoredAnswer
from agents_app.evaluation.report import PartFigures, SideFigures, report_of
from agents_app.evaluation.sentences import interval_text, verdict_sentence
from agents_app.evaluation.services import (
    DEFAULT_SAMPLE,
    MAX_BUDGET,
    MAX_SAMPLE,
    PERMISSION,
    cancel_evaluation,
    find_evaluation,
    start_evaluation,
)
from agents_app.models import Evaluation, EvaluationItem, ItemState, PromptVersion
from agents_app.quality.decisions import field_of
from analytics.experiments.confidence import Range
from analytics.experiments.sentences import points
from content.document.differences import Segment, diff_text
from content.post_checks.proposals import text_of_value
from proofroom.briefs.models import Brief
from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.labels import badge
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.background_jobs.models import JobState
from proofroom.core.i18n.ages import age_html
from proofroom.core.json import Json
from proofroom_apps.editorial.posts.post_pages import post_url

_STATES: Final[dict[str, tuple[str, Promise]]] = {
    JobState.RUNNING: ("running", gettext_lazy("Running")),
    JobState.DONE: ("succeeded", gettext_lazy("Finished")),
    JobState.CANCELLED: ("cancelled", gettext_lazy("Cancelled")),
    JobState.FAILED: ("failed", gettext_lazy("Stopped")),
}
_MAX_VERSIONS: Final = 50
_MAX_CHARACTERS: Final = 4_000


class EvaluationForm(forms.Form):
    """The version to compare with the current one, and the limits."""

    agentId = forms.ChoiceField(label=gettext_lazy("Agent"))
    model = model_field()
    prompt = forms.ChoiceField(
        label=gettext_lazy("Prompt version"),
        required=False,
        help_text=gettext_lazy("Prompts that runs have used. Choose one of the agent above."),
    )
    brief = forms.ChoiceField(label=gettext_lazy("Editorial brief"), required=False)
    sample = forms.IntegerField(
        label=gettext_lazy("Runs"),
        min_value=1,
        max_value=MAX_SAMPLE,
        initial=DEFAULT_SAMPLE,
        help_text=gettext_lazy("Number of decided runs to repeat."),
    )
    budget = forms.DecimalField(
        label=gettext_lazy("Budget in US dollars"),
        min_value=Decimal("0.000001"),
        max_value=MAX_BUDGET,
        max_digits=10,
        decimal_places=6,
        initial=Decimal("1.00"),
        help_text=gettext_lazy("The evaluation stops before it costs more."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = [(agent.id, agent_name(agent.id)) for agent in all_agents()]
        versions = PromptVersion.objects.order_by("-created_at", "pk")
        rows = versions.values_list("digest", "agent_id", "created_at")[:_MAX_VERSIONS]
        briefs = Brief.objects.order_by("name", "pk").values_list("pk", "name")
        _choose(self, "agentId", agents)
        _choose(
            self,
            "prompt",
            [
                ("", _("The current one")),
                *(
                    (digest, f"{agent_name(agent_id)}: {digest}, {at:%Y-%m-%d}")
                    for digest, agent_id, at in rows
                ),
            ],
        )
        _choose(
            self,
            "brief",
            [
                ("", _("The current ones")),
                ("none", _("No brief")),
                *((str(pk), name) for pk, name in briefs),
            ],
        )


def _choose(form: forms.Form, name: str, choices: Sequence[tuple[str, str]]) -> None:
    cast(forms.ChoiceField, form.fields[name]).choices = list(choices)


@admin.register(Evaluation)
class EvaluationAdmin(FormAdmin[Evaluation]):
    view_permission = PERMISSION
    list_title = gettext_lazy("Evaluations")
    add_permission = PERMISSION
    add_title = gettext_lazy("Evaluate an agent")
    add_button = gettext_lazy("Start")
    add_form = EvaluationForm
    add_template = "admin/quality/evaluate.html"
    empty_words = gettext_lazy(
        "An evaluation repeats decided runs with another model, prompt version or brief, and "
        "compares the answers with what people decided."
    )
    list_display = ("agent", "candidate", "progress", "price", "started", "outcome")
    list_display_links = ("agent",)
    ordering = ("-created_at", "pk")

    @admin.display(description=gettext_lazy("Agent"))
    def agent(self, job: Evaluation) -> str:
        return agent_name(job.agent_id)

    @admin.display(description=gettext_lazy("Challenger"))
    def candidate(self, job: Evaluation) -> str:
        return candidate_label(job)

    @admin.display(description=gettext_lazy("Runs"))
    def progress(self, job: Evaluation) -> str:
        return f"{job.done:,} / {job.total:,}" if job.done < job.total else f"{job.total:,}"

    @admin.display(description=gettext_lazy("Cost"))
    def price(self, job: Evaluation) -> str:
        return format_money(job.spent)

    @admin.display(description=gettext_lazy("Started"), ordering="created_at")
    def started(self, job: Evaluation) -> SafeString | str:
        return age_html(job.created_at)

    @admin.display(description=gettext_lazy("State"))
    def outcome(self, job: Evaluation) -> SafeString:
        look, label = _STATES[job.state]
        return badge(look, str(label))

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        given = form.cleaned_data
        job = start_evaluation(
            agent_id=given["agentId"],
            actor=actor_of(request),
            budget=given["budget"],
            model=given["model"].strip(),
            prompt=given["prompt"],
            brief=given["brief"],
            sample=given["sample"],
        )
        messages.success(request, _("Started the evaluation."))
        return HttpResponseRedirect(reverse("admin:agents_app_evaluation_change", args=[job.pk]))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """GET shows the progress and the figures, POST cancels."""
        return cast(HttpResponse, _evaluation_page(request, object_id))


@service_errors_as_http
def _evaluation_page(request: HttpRequest, evaluation_id: str) -> HttpResponse:
    require(request, PERMISSION)
    actor = actor_of(request)
    job = find_evaluation(evaluation_id=evaluation_id, actor=actor)
    if request.method == "POST":
        with service_errors_as_messages(request):
            cancel_evaluation(evaluation_id=job.pk, actor=actor)
            messages.success(request, _("Cancelled. You can still read the answers so far."))
        return HttpResponseRedirect(request.path)
    report = report_of(job)
    look, state = _STATES[job.state]
    versions = reverse("admin:agents_app_versions", args=[job.agent_id])
    context = {
        "job": job,
        "agent": agent_name(job.agent_id),
        "look": look,
        "state": state,
        "champion": model_title(job.champion["model"]),
        "challenger": model_title(job.challenger["model"]),
        "brief": _brief_label(job),
        "spent": format_money(job.spent),
        "budget": format_money(job.budget),
        "report": report,
        "parts": [
            part_table(_("All decisions"), report.everything),
            part_table(_("Held out: never given as an example"), report.held_out),
        ],
        "questions": [question_of(item) for item in report.items],
        "promote_url": f"{versions}?model={job.model}&prompt={job.prompt}"
        if job.state == JobState.DONE and not job.brief
        else "",
    }
    title = _("Evaluation of %(agent)s") % {"agent": agent_name(job.agent_id)}
    return form_page(request, "admin/quality/evaluation.html", Evaluation, context, title=title)


def candidate_label(job: Evaluation) -> str:
    """Return what differs from the current version."""
    parts = (
        model_title(job.model) if job.model else "",
        _("prompt %(version)s") % {"version": job.prompt} if job.prompt else "",
        _brief_label(job),
    )
    return ", ".join(part for part in parts if part)


def _brief_label(job: Evaluation) -> str:
    if not job.brief:
        return ""
    return _("no brief") if job.brief == "none" else _("another brief")


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure of both versions, and the interval of its difference as text."""

    label: str
    champion: str
    challenger: str
    difference: str


@dataclass(frozen=True, slots=True)
class PartTable:
    """The figures of one part of the decisions side by side."""

    title: str
    sentence: str
    verdict: str
    rows: Sequence[FigureRow]


def part_table(title: str, part: PartFigures) -> PartTable:
    difference = part.agreement_difference
    rows = [
        FigureRow(
            _("Agrees with people"),
            _agreement(part.champion),
            _agreement(part.challenger),
            points(difference) if difference is not None else _("Too few to tell"),
        ),
        _row(_("Distance from approved texts"), part, "distance", 2, part.distance_difference),
        _row(_("Failed checks per run"), part, "failed_checks", 2, part.checks_difference),
        _row(_("US dollars per run"), part, "cost", 5, part.cost_difference),
        _row(_("Seconds per run"), part, "seconds", 1, part.seconds_difference),
        FigureRow(
            _("Runs without an answer"), str(part.champion.errors), str(part.challenger.errors), ""
        ),
    ]
    return PartTable(title, verdict_sentence(part), part.verdict, rows)


def _agreement(side: SideFigures) -> str:
    found = share_label(side.agreement, side.agreement_range)
    if side.agreement is None:
        return found.share
    text = _("%(share)s (%(range)s), %(agreed)s of %(decisions)s")
    return text % {
        "share": found.share,
        "range": found.range,
        "agreed": side.agreed,
        "decisions": side.decisions,
    }


def _row(
    label: str, part: PartFigures, name: str, decimals: int, difference: Range | None
) -> FigureRow:
    champion, challenger = (
        "—" if (value := getattr(side, name)) is None else f"{value:,.{decimals}f}"
        for side in (part.champion, part.challenger)
    )
    return FigureRow(label, champion, challenger, interval_text(difference, decimals))


@dataclass(frozen=True, slots=True)
class AnswerView:
    """The answer of one version to a question at one path. `segments`: its difference from the approved text."""

    text: str
    segments: Sequence[Segment]
    outcome: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class PathView:
    """A decided path with the answers of the champion and the challenger."""

    field: str
    is_approved: bool
    is_held_out: bool
    approved: str
    answers: Sequence[AnswerView | None]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A repeated run on the page."""

    item: EvaluationItem
    title: str
    post_url: str
    run_url: str
    state: str
    paths: Sequence[PathView]
    errors: Sequence[tuple[str, str]]
    failed_checks: Sequence[tuple[str, str]]


_OUTCOMES: Final[dict[str, Promise]] = {
    "same": gettext_lazy("Same"),
    "similar": gettext_lazy("Similar"),
    "different": gettext_lazy("Different"),
    "missing": gettext_lazy("Not proposed"),
    "again": gettext_lazy("Proposed again"),
    "avoided": gettext_lazy("Avoided"),
}
_ITEM_STATES: Final[dict[str, Promise]] = {
    ItemState.WAITING: gettext_lazy("Waiting"),
    ItemState.RUNNING: gettext_lazy("Running"),
    ItemState.DONE: gettext_lazy("Answered"),
    ItemState.SKIPPED: gettext_lazy("Skipped"),
    ItemState.LEFT: gettext_lazy("Not asked"),
}


def question_of(item: EvaluationItem) -> QuestionView:
    sides = ((_("Champion"), item.champion), (_("Challenger"), item.challenger))
    given = [(name, cast(StoredAnswer, side)) for name, side in sides if side]
    approved: dict[str, Json] = item.decided.get("approved") or {}
    paths = dict.fromkeys((*approved, *(item.decided.get("rejected") or ())))
    post = item.run.post
    return QuestionView(
        item=item,
        title=post.title if post is not None else _("(deleted)"),
        post_url=post_url("change", post) if post is not None and not post.deleted_at else "",
        run_url=reverse("admin:agents_app_agentrun_change", args=[item.run_id]),
        state=str(_ITEM_STATES[item.state]),
        paths=[_path_view(path, item, approved) for path in paths],
        errors=[(name, side["error"]) for name, side in given if side["error"]],
        failed_checks=[(name, check) for name, side in given for check in side["failedChecks"]],
    )


def _path_view(path: str, item: EvaluationItem, approved: dict[str, Json]) -> PathView:
    wanted = _text(approved[path]) if path in approved else ""
    answers = [
        _answer_view(path, cast(StoredAnswer, side), wanted, is_approved=path in approved)
        for side in (item.champion, item.challenger)
    ]
    held_out = [
        one["heldOut"]
        for side in (item.champion, item.challenger)
        if side
        for one in cast(StoredAnswer, side)["paths"]
        if one["path"] == path
    ]
    return PathView(field_title(field_of(path)), path in approved, any(held_out), wanted, answers)


def _answer_view(
    path: str, side: StoredAnswer, wanted: str, *, is_approved: bool
) -> AnswerView | None:
    compared = next((one for one in side.get("paths", ()) if one["path"] == path), None)
    if compared is None:
        return None
    text = _text(side["values"][path]) if path in side["values"] else ""
    segments = diff_text(wanted, text) if is_approved and text and text != wanted else ()
    return AnswerView(text, segments, str(_OUTCOMES[compared["outcome"]]), compared["agrees"])


def _text(value: Json) -> str:
    return (text_of_value(value) or ("" if value is None else str(value)))[:_MAX_CHARACTERS]
