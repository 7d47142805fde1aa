"""Editorial steps in the admin: the page of a post, the panel of its editor, and a section of the inbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from content.layers import Layers
from content.models import Layer, Post, Status
from proofroom.accounts.models import SiteRole, role_label
from proofroom.accounts.roles import grants
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.agent_directory import agent_name
from proofroom.core.errors import CmsError, Conflict, RuleViolation
from proofroom.definitions import Step, post_types, steps_of
from proofroom_apps.editorial.inbox.sections import InboxSection, inbox_sections
from proofroom_apps.editorial.posts.extensions import (
    PostBadge,
    PostPagesExtension,
    PostPanel,
    PostTab,
    ReviewGate,
    RunView,
    describe_runs,
    post_pages_extensions,
)
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, post_urls, read
from proofroom_apps.steps.models import NOTE_MAX, Absence, StepAction, StepDecision, StepRound
from proofroom_apps.steps.presenters import latest_decisions, problem_of
from proofroom_apps.steps.queries import (
    StepView,
    Way,
    absences_at,
    content_digest,
    list_agreements,
    read_way,
    rounds_asking,
    standing_of,
)
from proofroom_apps.steps.services import advance, may_return, may_start, send_back

MAX_SHOWN: Final = 25


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step on the page of a post."""

    view: StepView
    asks: str
    progress: str
    is_overdue: bool
    away: Sequence[Absence] = ()
    has_changed: bool = False


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def post_steps(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the steps of a post, with the buttons to advance and to send back. POST does either."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    problem = ""
    if request.method == "POST":
        problem = _move(request, post)
        if not problem:
            return HttpResponseRedirect(post_url("steps", post))
    way, digest = read_way(post, layers), content_digest(layers)
    decisions = latest_decisions(way.row)
    context = {
        **_buttons(request, way, layers),
        "lines": list(_lines(way, digest)),
        "way": way,
        "problem": problem,
        "step_problem": problem_of(way),
        "run": _run_of(request, way),
        "invite_url": _invite_url(request, way, layers),
        "digest": digest,
        "decisions": [
            (*_describe(row), bool(row.digest) and row.digest != digest) for row in decisions
        ],
        "sent_back": _sent_back(decisions),
        "note": request.POST.get("note", ""),
        "note_max": NOTE_MAX,
    }
    return post_page(
        request,
        "admin/steps/post.html",
        post,
        layers,
        context,
        title=_("Steps of %(title)s") % {"title": post.title},
        tab="steps",
        status=422 if problem else 200,
    )


def _sent_back(decisions: Sequence[StepDecision]) -> Mapping[str, str] | None:
    """Return who sent the content back and why, if nothing was decided since."""
    if not decisions or decisions[0].action != StepAction.RETURNED or not decisions[0].note:
        return None
    row, who, what = _describe(decisions[0])
    return {"who": who, "what": what, "note": row.note}


def _move(request: HttpRequest, post: Post) -> str:
    """Do what the pressed button says. Return why nothing was done, empty on success."""
    actor, note = actor_of(request), request.POST.get("note", "")
    try:
        if request.POST.get("do") == "run-again":
            step = request.POST.get("step", "")
            send_back(post_id=post.pk, actor=actor, note=note, step=step)
            messages.success(request, _("The agent was started again."))
            return ""
        if request.POST.get("do") == "return":
            send_back(post_id=post.pk, actor=actor, note=note, step=request.POST.get("to", ""))
            messages.success(request, _("Sent back."))
            return ""
        way = advance(
            post_id=post.pk,
            actor=actor,
            step=request.POST.get("step", ""),
            note=note,
            digest=request.POST.get("content_digest", ""),
        )
    except (RuleViolation, Conflict) as error:
        return error.message
    if way.is_passed:
        messages.success(request, _("All steps are done."))
    elif way.current is not None:
        messages.success(request, _("The step “%(step)s” is open.") % {"step": way.current.name})
    return ""


def _buttons(request: HttpRequest, way: Way, layers: Layers) -> dict[str, Any]:
    """Return what the user may do. The services decide again."""
    actor, current = actor_of(request), way.current
    counted = (
        list_agreements(way.row, current, content_digest(layers))
        if way.row is not None and current is not None and current.quorum > 1
        else []
    )
    people = {each.deputy_for_id or each.by_id or 0 for each in counted}
    standing = (
        standing_of(actor, current, way.post, counted=people) if current is not None else None
    )
    is_author = may_start(actor, way.post)
    has_content = way.post.status != Status.PUBLISHED or layers.review.exists
    is_ready = current is None and not way.is_passed and bool(way.steps) and has_content
    has_agreed = any(actor.user.pk in (each.by_id, each.deputy_for_id) for each in counted)
    is_agent = current is not None and current.kind == "agent"
    has_ended = way.row is not None and (bool(way.row.problem) or way.row.run_id is None)
    is_judge = actor.can("posts.review.approve", way.post) or standing is not None
    return {
        "may_start": is_author and is_ready,
        "may_agree": standing is not None and not has_agreed,
        "has_agreed": has_agreed,
        "stands_for": standing.stands_for if standing is not None else "",
        "deputy_for": standing.deputy_for if standing is not None else None,
        "may_run_again": is_agent and has_ended and (is_author or standing is not None),
        "may_return": is_judge and may_return(way, layers),
        "targets": [view.step.name for view in way.steps if view.state == "done"],
    }


def _run_of(request: HttpRequest, way: Way) -> RunView | None:
    """Return the run of the agent that the open step asks. At most one query."""
    id_ = str(way.row.run_id) if way.row is not None and way.row.run_id is not None else ""
    return describe_runs(request, [id_]).get(id_)


def _invite_url(request: HttpRequest, way: Way, layers: Layers) -> str:
    """Return the page on which the guest of the open step is invited, empty if the user may not do it."""
    is_guest = way.current is not None and way.current.kind == "guest"
    if not is_guest or not layers.review.exists or not may(request, "reviewers.invite", way.post):
        return ""
    return post_url("reviewers", way.post, f"?layer={Layer.REVIEW}")


def _lines(way: Way, digest: str = "") -> Iterator[StepLine]:
    """Yield the steps of a post. `digest`: the content of now, to name the steps that are about other content."""
    now, roles = timezone.now(), _role_labels(way)
    away = absences_at(way.current) if way.current is not None else []
    changed = _find_changed(way, digest) if digest and way.current is not None else set()
    for view in way.steps:
        quorum = view.step.quorum
        progress = ""
        if quorum > 1 and view.state == "open":
            progress = _("%(agreed)s of %(quorum)s agreed") % {
                "agreed": view.agreed,
                "quorum": quorum,
            }
        elif quorum > 1:
            progress = ngettext("%(n)s must agree", "%(n)s must agree", quorum) % {"n": quorum}
        yield StepLine(
            view,
            _asks_label(view.step, roles),
            progress,
            is_overdue=view.due is not None and view.due < now,
            away=away if view.state == "open" else (),
            has_changed=view.step.name in changed,
        )


def _find_changed(way: Way, digest: str) -> set[str]:
    """Return the names of the done steps whose people agreed to other content. One query."""
    if way.row is None:
        return set()
    rows = way.row.decisions.filter(action=StepAction.AGREED).order_by("at", "pk")
    latest = dict(rows.values_list("step", "digest"))
    done = {view.step.name for view in way.steps if view.state == "done"}
    return {step for step, seal in latest.items() if step in done and seal and seal != digest}


def _role_labels(way: Way) -> dict[str, str]:
    """Return the labels of the roles that steps ask, by name. At most one query, for roles of the site."""
    names = {view.step.role for view in way.steps if view.step.role}
    labels = {name: role_label(name) for name in names}
    if own := names - {*grants()}:
        labels |= {row.name: str(row) for row in SiteRole.objects.filter(name__in=own)}
    return labels


def _asks_label(step: Step, roles: Mapping[str, str]) -> str:
    """Return whom a step asks, in words. `roles`: labels by name."""
    if step.kind == "role":
        return _("Role: %(name)s") % {"name": roles[step.role]}
    if step.kind == "agent":
        return _("Agent: %(name)s") % {"name": agent_name(step.agent)}
    if step.kind == "guest":
        return _("Reviewer without account: %(name)s") % {"name": step.guest}
    return step.person


def _describe(row: StepDecision) -> tuple[StepDecision, str, str]:
    """Return a decision with who made it and what it was."""
    who = row.by_name or (agent_name(row.agent_id) if row.agent_id else row.stands_for)
    if row.by_name and row.deputy_for is not None:
        who = _("%(name)s for %(other)s") % {"name": who, "other": row.deputy_for.username}
    elif row.by_name and row.stands_for:
        who = _("%(name)s for %(other)s") % {"name": who, "other": row.stands_for}
    sentences = {
        "started": _("started the steps"),
        "agreed": _("agreed to “%(step)s”") % {"step": row.step},
        "returned": _("sent back to “%(step)s”") % {"step": row.step}
        if row.step
        else _("sent back to the authors"),
    }
    return row, who or _("Former member"), sentences[row.action]


class StepsOnPostPages(PostPagesExtension):
    def tabs(self, request: HttpRequest, post: Post) -> Sequence[PostTab]:
        """Return the tab of the steps, for types that have some. No query."""
        if not steps_of(post.type):
            return ()
        return (PostTab("steps", _("Steps"), post_url("steps", post)),)

    def panels(self, request: HttpRequest, post: Post) -> Sequence[PostPanel]:
        """Return where the post is on its way. No query for types without steps."""
        if not steps_of(post.type):
            return ()
        way = read_way(post)
        context = {
            "lines": list(_lines(way)),
            "way": way,
            "url": post_url("steps", post),
            "is_live": post.status == Status.PUBLISHED,
            "misses_date": post.publish_at is not None and not way.is_passed,
        }
        return (PostPanel("settings", render_to_string("admin/steps/panel.html", context)),)

    def review_gate(self, request: HttpRequest, layers: Layers) -> ReviewGate | None:
        """Return which step comes first, with buttons for the people it asks. No query for types without steps."""
        if not steps_of(layers.post.type):
            return None
        way = read_way(layers.post, layers)
        if way.is_passed:
            return None
        context = {
            **_buttons(request, way, layers),
            "way": way,
            "url": post_url("steps", layers.post),
            "digest": content_digest(layers),
            "csrf_token": get_token(request),
        }
        return ReviewGate(
            render_to_string("admin/steps/review_actions.html", context),
            render_to_string("admin/steps/review.html", context),
        )

    def submitted_for_review(self, request: HttpRequest, post: Post) -> None:
        """Start the steps, unless they are under way. By API they are started by a request of their own."""
        if not steps_of(post.type):
            return
        way, actor = read_way(post), actor_of(request)
        if way.current is not None or way.is_passed or not may_start(actor, post):
            return
        try:
            way = advance(post_id=post.pk, actor=actor)
        except CmsError as error:
            messages.warning(request, error.message)
            return
        if way.current is not None:
            messages.success(
                request, _("The step “%(step)s” is open.") % {"step": way.current.name}
            )

    def list_filters(self) -> Sequence[type[SimpleListFilter]]:
        return (StepFilter,)

    def list_badges(self, types: Mapping[UUID, str]) -> Mapping[UUID, PostBadge]:
        """Return the names of the open steps. One query, none for types without steps."""
        ids = [id_ for id_, type_ in types.items() if steps_of(type_)]
        if not ids:
            return {}
        rows = StepRound.objects.filter(post__in=ids).exclude(step="")
        found = dict(rows.values_list("post", "step"))
        url_of = post_urls("steps")
        # A step that was taken out of the definition is not open.
        return {
            id_: PostBadge(name, url_of(id_))
            for id_, name in found.items()
            if any(step.name == name for step in steps_of(types[id_]))
        }


class StepFilter(SimpleListFilter):
    """Filter for posts at an open step."""

    title = gettext_lazy("step")
    parameter_name = "step"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = dict.fromkeys(step.name for type_ in post_types for step in type_.steps)
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        name = self.value() or ""
        if name not in {value for value, _label in self.lookup_choices}:
            return queryset
        types = [type_.name for type_ in post_types for step in type_.steps if step.name == name]
        return queryset.filter(step_round__step=name, type__in=types)


class StepsInInbox(InboxSection):
    name = "steps"
    label = gettext_lazy("Steps that ask you")

    def show(self, request: HttpRequest) -> SafeString:
        """Return the open steps that ask the reader. No query if no type has steps."""
        rows = self.waiting(request)
        if rows is None:
            return SafeString()
        now, url_of = timezone.now(), post_urls("steps")
        entries = [
            (row, url_of(row.post_id), row.due_at is not None and row.due_at < now)
            for row in rows[:MAX_SHOWN]
        ]
        if not entries:
            return SafeString()
        return render_to_string("admin/steps/inbox.html", {"entries": entries})

    def waiting(self, request: HttpRequest) -> QuerySet[StepRound] | None:
        if not any(type_.steps for type_ in post_types):
            return None
        return rounds_asking(actor_of(request))


post_pages_extensions.register(StepsOnPostPages(), name="steps", order=1)
inbox_sections.register(StepsInInbox(), name="steps")
