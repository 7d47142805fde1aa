"""The review page of a layer: its changes, and the user's decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.change_comparison import passages_at
from content.document.differences import SEPARATOR, base_path
from content.layers import LayerView
from content.models import Layer
from content.posts.decide import PostSeen, clean_note, decide
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.core.i18n.time_zones import find_time_zone
from proofroom_apps.editorial.posts.extensions import take_accepted
from proofroom_apps.editorial.posts.post_pages import layer_label, post_page, read, review_url
from proofroom_apps.editorial.review.cards import Decisions
from proofroom_apps.editorial.review.confirmations import add_confirmations
from proofroom_apps.editorial.review.page import Reviewed, show
from proofroom_apps.editorial.review.publish_offer import offer_publishing
from proofroom_apps.editorial.review.schedule import remove_schedule, schedule_accepted

_NOTE_PREFIX = "note."


@service_errors_as_http
def review(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET shows a layer (`?layer=ai-review` or `review`), POST decides."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    wanted = request.GET.get("layer", "")
    # AI Review comes first, since its changes go to Review next.
    layer = Layer.AI_REVIEW if layers.ai_review.exists else Layer.REVIEW
    reviewed = Reviewed(
        request, post, layers, layers.view(Layer(wanted) if wanted in Layer.values else layer)
    )
    if request.method != "POST":
        return show(reviewed, Decisions())
    action = request.POST.get("action", "")
    action, _sep, schedule_id = action.partition(":")
    if action == "unschedule":
        return remove_schedule(request, post, schedule_id)
    # The zone in which the page showed its times.
    if (zone := find_time_zone(request.POST.get("time_zone"))) is not None:
        timezone.activate(zone)
    decisions = _read_decisions(request)
    if action == "accept-safe":
        more = {"note": request.POST.get("note", ""), "marks_safe": True}
        return show(reviewed, replace(decisions, accepts_safe=True), more=more)
    if action == "undo-safe":
        marked = set(request.POST.getlist("safe"))
        left = {path: word for path, word in decisions.by_path.items() if path not in marked}
        more = {"note": request.POST.get("note", ""), "unmarks_safe": True}
        return show(reviewed, replace(decisions, by_path=left), more=more)
    taking = ("approve" if reviewed.is_review else "submit", "publish")
    schedules = action == "schedule" and reviewed.is_review
    is_own = action in (*taking, "reject") or schedules
    if not is_own and not reviewed.is_review:
        return _show_problem(reviewed, _("Choose one of the actions."))
    accept, refuse = _split_by_decision(decisions.by_path, reviewed.view)
    if schedules:
        return _schedule(reviewed, accept)
    if not is_own:
        return _take(reviewed, action, accept)
    if not accept and not refuse:
        return _ask_for_all(reviewed, action)
    if action in taking and not accept:
        message = ngettext(
            "No change is accepted. To reject the one marked Reject, choose Reject.",
            ("No change is accepted. To reject the %(count)s marked Reject, choose Reject."),
            len(refuse),
        )
        return _show_problem(reviewed, message % {"count": len(refuse)})
    return _carry_out(
        reviewed,
        decisions,
        # The button “Reject” must not accept anything.
        accept if action in taking else (),
        refuse,
        publishes=action == "publish",
    )


def _schedule(reviewed: Reviewed, accept: Collection[str]) -> HttpResponse:
    """Schedule the accepted changes, or show why not. Rejected changes stay, until they are decided."""
    if not accept:
        return _show_problem(reviewed, _("Accept the changes that are to go live at this time."))
    try:
        return schedule_accepted(reviewed.request, reviewed.post, accept)
    except CmsError as error:
        return _show_error(reviewed, error)


def _take(reviewed: Reviewed, action: str, accept: Collection[str]) -> HttpResponse:
    """Let an extension take the accepted changes, or show why not. Other decisions are not carried out."""
    try:
        answer = take_accepted(reviewed.request, reviewed.post, action, accept)
    except CmsError as error:
        return _show_error(reviewed, error)
    return answer or _show_problem(reviewed, _("Choose one of the actions."))


def _carry_out(
    reviewed: Reviewed,
    decisions: Decisions,
    accept: Collection[str],
    refuse: Collection[str],
    *,
    publishes: bool = False,
) -> HttpResponse:
    request, post, view = reviewed.request, reviewed.post, reviewed.view
    notes = decisions.notes
    try:
        # Notes of rejections. A passage uses the note of its change.
        own = [path for path in refuse if base_path(path) in notes]
        done = decide(
            post_id=post.pk,
            layer=view.layer,
            actor=actor_of(request),
            digest=request.POST.get("digest", ""),
            accept=accept,
            refuse=refuse,
            note=clean_note(request.POST.get("note", "")),
            notes={path: clean_note(notes[base_path(path)]) for path in own},
            publishes=publishes,
            post_seen=_read_post_seen(request),
        )
    except CmsError as error:
        return _show_error(reviewed, error)
    add_confirmations(request, post, view, done)
    # If all of AI Review is decided and some of it was submitted, continue with Review.
    is_whole = len(done.taken) + len(done.rejected) == len(view.changes)
    is_carried_over = view.layer == Layer.AI_REVIEW and done.taken and is_whole and not done.is_live
    return HttpResponseRedirect(review_url(post, Layer.REVIEW if is_carried_over else view.layer))


def _show_error(reviewed: Reviewed, error: CmsError) -> HttpResponse:
    """Show the current page with the error. Decisions on unchanged changes are preserved."""
    if error.status in (403, 404):
        raise error
    post, layers = read(reviewed.request, reviewed.post.pk)
    now = Reviewed(reviewed.request, post, layers, layers.view(reviewed.view.layer))
    moved = set(error.details) if error.code == "stale_review" else set()
    return _show_problem(now, error.message, moved=moved, status=error.status)


def _read_decisions(request: HttpRequest) -> Decisions:
    """Return the decisions of the form, also on changes that no longer exist."""
    sent = {key: value for key, value in request.POST.items() if isinstance(value, str)}
    by_path = {
        key: value
        for key, value in sent.items()
        if key.startswith(("post.", "modules.")) and value in ("accept", "reject")
    }
    notes = {
        key.removeprefix(_NOTE_PREFIX): value
        for key, value in sent.items()
        if key.startswith((f"{_NOTE_PREFIX}post.", f"{_NOTE_PREFIX}modules."))
    }
    return Decisions(by_path, {path: note for path, note in notes.items() if note.strip()})


def _read_post_seen(request: HttpRequest) -> PostSeen | None:
    """Return the post's state that the page showed, or None. An invalid version never matches."""
    sent = request.POST.get("version")
    if sent is None:
        return None
    version = int(sent) if sent.isascii() and sent.isdecimal() and len(sent) < 10 else -1
    return PostSeen(is_published=request.POST.get("published") == "1", version=version)


def _split_by_decision(marked: Mapping[str, str], view: LayerView) -> tuple[list[str], list[str]]:
    """Return the accepted and the rejected paths. A decision on a passage overrides the one on its change."""
    passages: dict[str, dict[str, str]] = {}
    for name, word in marked.items():
        if SEPARATOR in name:
            passages.setdefault(base_path(name), {})[name] = word
    found: dict[str, list[str]] = {"accept": [], "reject": []}
    for path, word in marked.items():
        if SEPARATOR not in path and path not in passages:
            found[word].append(path)
    changes = {change.path: change for change in view.changes}
    for path, words in passages.items():
        whole = marked.get(path)
        change = changes.get(path)
        named = passages_at(change, view.below, view.document) if change else ()
        for name in (f"{path}{SEPARATOR}{passage}" for passage in named):
            decided = words.pop(name) if name in words else whole
            if decided is not None:
                found[decided].append(name)
        # The passage or its change no longer exists: pass it on, so that the service refuses it by name.
        for name, word in words.items():
            found[word].append(name)
    return found["accept"], found["reject"]


def _show_problem(
    reviewed: Reviewed, message: str, *, moved: Collection[str] = (), status: int = 422
) -> HttpResponse:
    decided = _read_decisions(reviewed.request)
    staged = set(reviewed.view.changes.paths)
    more = {
        "problem": message,
        "moved": [
            (path if path in staged else "", label)
            for path, label in reviewed.labels(sorted(moved))
        ],
        "decided": len(decided.by_path),
        "note": reviewed.request.POST.get("note", ""),
    }
    return show(reviewed, replace(decided, moved=moved), more=more, status=status)


def _ask_for_all(reviewed: Reviewed, action: str) -> HttpResponse:
    """Ask for confirmation of all changes by name, since none was marked."""
    request, post, view = reviewed.request, reviewed.post, reviewed.view
    if not view.exists:
        return HttpResponseRedirect(review_url(post, view.layer))
    count = len(view.changes)
    context = {
        "view": view,
        "action": action,
        "word": "reject" if action == "reject" else "accept",
        "publishing": offer_publishing(request, reviewed.layers, view)
        if action == "publish"
        else None,
        "changes": reviewed.labels(view.changes.paths),
        # Use the state the user saw: a newer change must not be approved unseen.
        "digest": request.POST.get("digest", ""),
        "seen": _read_post_seen(request),
        "note": request.POST.get("note", ""),
        "back": review_url(post, view.layer),
        "layer_label": layer_label(view.layer),
    }
    questions = {
        "approve": ngettext("Approve the change?", "Approve all %(count)s changes?", count),
        "submit": ngettext(
            "Submit the change to Review?", "Submit all %(count)s changes to Review?", count
        ),
        "reject": ngettext("Reject the change?", "Reject all %(count)s changes?", count),
        "publish": ngettext(
            "Approve and publish the change?", "Approve and publish all %(count)s changes?", count
        ),
    }
    return post_page(
        request,
        "admin/posts/confirm_all.html",
        post,
        reviewed.layers,
        context,
        title=questions[action] % {"count": count},
        tab=view.layer,
    )
