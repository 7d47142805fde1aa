"""The review page of a layer: cards, counts, runs, preview, texts for the script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.document.labels import label_of, module_names
from content.layers import Layers, LayerView
from content.models import Layer, Post, Status
from content.posts.decide import PostSeen
from content.presenters.overview import check_changes
from proofroom.core.admin.permissions import actor_of, may
from proofroom_apps.editorial.posts.extensions import review_gate, review_panels
from proofroom_apps.editorial.posts.post_checks import blocked_publication
from proofroom_apps.editorial.posts.post_pages import (
    layer_label,
    post_page,
    post_url,
    review_url,
    split_switch,
    title_in,
)
from proofroom_apps.editorial.review.cards import Decisions, build_layer_cards
from proofroom_apps.editorial.review.confirmations import find_next_review
from proofroom_apps.editorial.review.publish_offer import PublishOffer, offer_publishing
from proofroom_apps.editorial.review.reviewers import reviewers_panel
from proofroom_apps.editorial.review.schedule import schedule_panel
from proofroom_apps.reviewers.links import links_of


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The layer of a post under review."""

    request: HttpRequest
    post: Post
    layers: Layers
    view: LayerView

    @property
    def is_review(self) -> bool:
        return self.view.layer == Layer.REVIEW

    def labels(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return each path with its label."""
        names = module_names(self.view.document, self.view.below)
        return [(path, label_of(path, self.view.document, names)) for path in paths]


def may_edit(request: HttpRequest, post: Post, layer: Layer) -> bool:
    """Return whether the user may edit the layer by hand. Same rule as in the service."""
    if layer == Layer.REVIEW:
        return may(request, "posts.review.save", post)
    return may(request, "posts.edit", post)


def show(
    reviewed: Reviewed,
    decisions: Decisions,
    *,
    more: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page with the decisions so far."""
    request, post, layers, view = reviewed.request, reviewed.post, reviewed.layers, reviewed.view
    is_review = reviewed.is_review
    right = "posts.review.approve" if is_review else "posts.ai-review.approve"
    other = layers.ai_review if is_review else layers.review
    may_write = may_edit(request, post, view.layer)
    links = links_of(post)
    shown = build_layer_cards(
        request, layers, view, decisions, may_edit=may_write, reviewer_links=links
    )
    cards = shown.cards
    counts = Counter(card.decision for card in cards)
    flagged = sum(card.card.is_flagged for card in cards)
    publishing = offer_publishing(request, layers, view)
    gate = review_gate(request, layers) if cards and (is_review or publishing) else None
    if gate is not None:
        publishing = None
    checks = check_changes([card.card for card in cards], view.below, view.document)
    context = {
        "groups": shown.groups,
        "runs": shown.runs,
        "has_untrusted": any(run.has_read_untrusted for run, _count in shown.runs),
        "first": cards[0].card.path if cards else "",
        "total": len(cards),
        "accepted": counts["accept"],
        "rejected": counts["reject"],
        "undecided": counts["leave"],
        "flagged": flagged,
        "checks": checks,
        "failed_checks": sum(not check.is_passed for check in checks),
        "safe": len(cards) - flagged,
        # For the button that undoes only these: accepted as safe, not by the user one by one.
        "marked_safe": [
            card.card.path
            for card in cards
            if decisions.accepts_safe
            and card.decision == "accept"
            and card.card.path not in decisions.by_path
        ],
        "view": view,
        "layer_label": layer_label(view.layer),
        "is_review": is_review,
        "is_live": post.status == Status.PUBLISHED,
        "digest": shown.digest,
        "gate": gate,
        "reviewers": reviewers_panel(request, post, view, shown.digest, links) if cards else None,
        "schedule": schedule_panel(request, post, view),
        "panels": review_panels(request, post) if view.layer == Layer.REVIEW else (),
        "has_advice": any(card.advice for card in cards),
        "seen": PostSeen(is_published=post.status == Status.PUBLISHED, version=post.version),
        "blocked": blocked_publication(layers, view) if is_review or publishing else [],
        "checks_url": post_url("checks", post, f"?layer={view.layer}"),
        # Changes may be accepted one by one before their steps are done, but not approved.
        "may_take": may(request, right, post),
        "may_send": may(request, right, post) and not (gate is not None and is_review),
        "may_reject": may(request, "posts.review.approve", post),
        "publishing": publishing,
        "other_count": len(other.changes),
        "other_url": review_url(post, other.layer),
        "next": find_next_review(post, view.layer, actor_of(request)),
        "words": script_texts(is_review=is_review, publishing=publishing),
        **_switches(reviewed),
        **(more or {}),
    }
    title = _("Review: %(title)s") if is_review else _("AI Review: %(title)s")
    return post_page(
        request,
        "admin/posts/review.html",
        post,
        layers,
        context,
        title=title % {"title": title_in(post, layers)},
        tab=view.layer,
        status=status,
    )


def _switches(reviewed: Reviewed) -> dict[str, Any]:
    """Return the switches: inline or side by side, and the page before or after."""
    layer = reviewed.view.layer
    below = "source" if reviewed.is_review else Layer.REVIEW.value

    def page(name: str, shown: str) -> str:
        return post_url(name, reviewed.post, "?" + urlencode({"layer": shown, "show": "all"}))

    return {
        **split_switch(reviewed.request, {"layer": layer.value}),
        "frame_after": page("preview_page", layer.value),
        "frame_before": page("preview_page", below),
        "page_after": page("preview", layer.value),
        "page_before": page("preview", below),
        "edit_url": post_url("review_edit", reviewed.post),
        "comments_url": post_url("comments", reviewed.post)
        if may(reviewed.request, "comments.write", reviewed.post)
        else "",
    }


def script_texts(
    *, is_review: bool, publishing: PublishOffer | None = None
) -> dict[str, list[str]]:
    """Return all texts of the script, each in singular and plural."""
    # Any number for the singular, and any for the plural: the script puts the real one in.
    both = (1, 2)
    if is_review:
        take = [ngettext("Approve %(count)s", "Approve %(count)s", n) for n in both]
        also = _("Approve %(count)s, reject %(rejected)s")
        every = _("Approve all…")
    else:
        take = [
            ngettext("Submit %(count)s to Review", "Submit %(count)s to Review", n) for n in both
        ]
        also = _("Submit %(count)s to Review, reject %(rejected)s")
        every = _("Send all to Review…")
    found: dict[str, list[str]] = publish_texts(publishing) if publishing else {}
    left = [ngettext("%(count)s left", "%(count)s left", n) for n in both]
    return found | {
        "take": take,
        "takeAlso": [also],
        "takeAll": [every],
        "reject": [ngettext("Reject %(count)s", "Reject %(count)s", n) for n in both],
        "rejectAll": [_("Reject all…")],
        "accept": [_("%(label)s: accepted, %(left)s")],
        "refuse": [_("%(label)s: rejected, %(left)s")],
        "leave": [_("%(label)s: decide later, %(left)s")],
        "left": left,
        "safe": [ngettext("%(count)s accepted.", "%(count)s accepted.", n) for n in both],
        "skippedFacts": [
            ngettext(
                "%(count)s skipped, because it needs a closer look.",
                "%(count)s skipped, because they need a closer look.",
                n,
            )
            for n in both
        ],
        "skippedHands": [
            ngettext(
                "%(count)s skipped, because somebody else also changed it.",
                "%(count)s skipped, because somebody else also changed them.",
                n,
            )
            for n in both
        ],
        "nothing": [_("Nothing to undo")],
        "undone": [
            ngettext("%(count)s decision undone", "%(count)s decisions undone", n) for n in both
        ],
        "none": [_("No change accepted yet")],
        "moved": [
            ngettext(
                "Check %(count)s of your %(total)s decisions again: it has changed.",
                "Check %(count)s of your %(total)s decisions again: they have changed.",
                n,
            )
            for n in both
        ],
        "kept": [ngettext("%(count)s decision kept", "%(count)s decisions kept", n) for n in both],
        "failed": [_("That did not work. Try again.")],
    }


def publish_texts(offer: PublishOffer) -> dict[str, list[str]]:
    """Return the script's texts for "Approve and publish"."""
    both = (1, 2)
    goes = [
        ngettext(
            "%(count)s change goes live at %(address)s.",
            "%(count)s changes go live at %(address)s.",
            n,
        )
        for n in both
    ]
    if offer.is_draft and offer.is_first:
        goes = [
            ngettext(
                ("Publishes this draft for the first time at %(address)s, with %(count)s change."),
                ("Publishes this draft for the first time at %(address)s, with %(count)s changes."),
                n,
            )
            for n in both
        ]
    elif offer.is_draft:
        goes = [
            ngettext(
                "Publishes this draft again at %(address)s, with %(count)s change.",
                "Publishes this draft again at %(address)s, with %(count)s changes.",
                n,
            )
            for n in both
        ]
    return {
        "publish": [
            ngettext("Approve and publish %(count)s", "Approve and publish %(count)s", n)
            for n in both
        ],
        "publishAlso": [_("Publish %(count)s, reject %(rejected)s")],
        "publishNone": [_("Approve and publish")],
        "publishAll": [_("Approve and publish all…")],
        "goesLive": goes,
        "stays": [ngettext("%(count)s stays here.", "%(count)s stay here.", n) for n in both],
        "dropped": [ngettext("%(count)s rejected.", "%(count)s rejected.", n) for n in both],
        "held": [
            ngettext(
                "%(count)s change cannot be published from here, because another change to the "
                "same field is waiting in Review. Decide on that one first, or submit this one to "
                "Review.",
                "%(count)s changes cannot be published from here, because other changes to the "
                "same fields are waiting in Review. Decide on those first, or submit these to "
                "Review.",
                n,
            )
            for n in both
        ],
    }
