"""The review page of a layer: what changes, field by field, and a person's decisions on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from content.admin.pages import post_page, read, review_url
from content.admin.review_cards import Shown, shown_cards
from content.layers import Layers, LayerView, digest_of
from content.layers.decide import Decided, decide
from content.models import Layer, Post
from content.review.labels import label_of, module_names
from core.admin.rights import actor_of, answers_refusals, may, require
from core.errors import CmsError

Decisions = dict[str, str]
_WORDS = ("accept", "reject")
_VERBS = {"approve": "Approve", "submit": "Submit to Review", "reject": "Reject"}


@answers_refusals
def review(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET shows a layer (`?layer=ai-review` or `review`), POST decides."""
    require(request, "posts.view")
    post, layers = read(post_id)
    view = layers.view(_layer(request, layers))
    if request.method == "POST":
        return _decided(request, post, layers, view)
    return _show(request, post, layers, view, {})


def _layer(request: HttpRequest, layers: Layers) -> Layer:
    wanted = request.GET.get("layer", "")
    if wanted in Layer.values:
        return Layer(wanted)
    return Layer.AI_REVIEW if layers.ai_review.exists else Layer.REVIEW


def _decided(request: HttpRequest, post: Post, layers: Layers, view: LayerView) -> HttpResponse:
    action = request.POST.get("action", "")
    taking = "approve" if view.layer == Layer.REVIEW else "submit"
    if action not in (taking, "reject"):
        return _again(request, post, layers, view, "Press one of the buttons.")
    decisions = _read_decisions(request).items()
    accept = [path for path, word in decisions if word == "accept"]
    refuse = [path for path, word in decisions if word == "reject"]
    if not accept and not refuse:
        return _confirm_all(request, post, layers, view, action)
    if action == taking and not accept:
        message = (
            f"Nothing is marked Accept. To drop the {len(refuse)} marked Reject, press Reject."
        )
        return _again(request, post, layers, view, message)
    try:
        done = decide(
            post_id=post.pk,
            layer=view.layer,
            actor=actor_of(request),
            digest=request.POST.get("digest", ""),
            accept=accept if action == taking else (),
            refuse=refuse,
            note=request.POST.get("note", "").strip(),
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        return _refused(request, post.pk, view.layer, error)
    _tell(request, view, done)
    return HttpResponseRedirect(_next(post, view, done))


def _read_decisions(request: HttpRequest) -> Decisions:
    """Every radio group that was decided, also of changes that are gone by now."""
    return {
        path: value
        for path, value in request.POST.items()
        if path.startswith(("post.", "modules.")) and isinstance(value, str) and value in _WORDS
    }


def _refused(request: HttpRequest, post_id: UUID, layer: Layer, error: CmsError) -> HttpResponse:
    """The page as it stands now, with the decisions kept on everything that did not move."""
    post, layers = read(post_id)
    view = layers.view(layer)
    moved = set(error.details) if error.code == "stale_review" else set()
    return _again(request, post, layers, view, error.message, moved=moved, status=error.status)


def _again(
    request: HttpRequest,
    post: Post,
    layers: Layers,
    view: LayerView,
    message: str,
    *,
    moved: set[str] | None = None,
    status: int = 422,
) -> HttpResponse:
    names = module_names(view.document, view.below)
    more = {
        "problem": message,
        "moved": [label_of(path, view.document, names) for path in sorted(moved or ())],
        "note": request.POST.get("note", ""),
    }
    decisions = _read_decisions(request)
    return _show(request, post, layers, view, decisions, moved=moved, more=more, status=status)


def _show(
    request: HttpRequest,
    post: Post,
    layers: Layers,
    view: LayerView,
    decisions: Mapping[str, str],
    *,
    moved: set[str] | None = None,
    more: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    is_review = view.layer == Layer.REVIEW
    context = {
        **_cards(request, view, decisions, moved or set()),
        "view": view,
        "is_review": is_review,
        "digest": digest_of(view.changes),
        "may_take": may(
            request, "posts.review.approve" if is_review else "posts.ai-review.approve"
        ),
        "may_reject": may(request, "posts.review.approve"),
        "other_count": len((layers.ai_review if is_review else layers.review).changes),
        "other_url": review_url(post, Layer.AI_REVIEW if is_review else Layer.REVIEW),
        **(more or {}),
    }
    return post_page(
        request,
        "admin/posts/review.html",
        post,
        layers,
        context,
        title=f"{'Review' if is_review else 'AI Review'}: {post.title}",
        tab=view.layer,
        status=status,
    )


def _cards(
    request: HttpRequest, view: LayerView, decisions: Mapping[str, str], moved: set[str]
) -> dict[str, Any]:
    groups = shown_cards(request, view, decisions, moved)
    cards = [card for group in groups for card in group.cards]
    return {
        "groups": groups,
        "first": cards[0].card.path if cards else "",
        "total": len(cards),
        "accepted": _count(cards, "accept"),
        "rejected": _count(cards, "reject"),
        "undecided": _count(cards, "leave"),
        "flagged": sum(card.card.is_flagged for card in cards),
    }


def _count(cards: list[Shown], decision: str) -> int:
    return sum(card.decision == decision for card in cards)


def _confirm_all(
    request: HttpRequest, post: Post, layers: Layers, view: LayerView, action: str
) -> HttpResponse:
    """Nothing was marked: ask whether all of it is meant, naming each."""
    if not view.exists:
        return HttpResponseRedirect(review_url(post, view.layer))
    names = module_names(view.document, view.below)
    context = {
        "view": view,
        "action": action,
        "verb": _VERBS[action],
        "word": "reject" if action == "reject" else "accept",
        "changes": [
            (change.path, label_of(change.path, view.document, names)) for change in view.changes
        ],
        # What was seen, not what stands now: a change that came since must not slip in.
        "digest": request.POST.get("digest", ""),
        "note": request.POST.get("note", ""),
        "back": review_url(post, view.layer),
    }
    title = f"{_VERBS[action]} all {len(view.changes)} changes?"
    return post_page(
        request, "admin/posts/confirm_all.html", post, layers, context, title=title, tab=view.layer
    )


def _tell(request: HttpRequest, view: LayerView, done: Decided) -> None:
    parts = []
    if done.taken:
        what = "approved, now live" if view.layer == Layer.REVIEW else "submitted to Review"
        parts.append(f"{len(done.taken)} {what}")
    if done.rejected:
        parts.append(f"{len(done.rejected)} rejected")
    if parts:
        text = ", ".join(parts)
        messages.success(request, f"{text[:1].upper()}{text[1:]}.")
    if done.conflicts:
        messages.warning(
            request,
            f"{len(done.conflicts)} stayed in AI Review, because a person staged another value in Review.",
        )


def _next(post: Post, view: LayerView, done: Decided) -> str:
    """Where the work goes on: AI Review that was carried over whole leads to Review."""
    everything = len(done.taken) + len(done.rejected) == len(view.changes)
    if view.layer == Layer.AI_REVIEW and done.taken and everything:
        return review_url(post, Layer.REVIEW)
    return review_url(post, view.layer)
