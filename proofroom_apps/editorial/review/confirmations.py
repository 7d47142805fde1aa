"""Messages after decisions: the result, an undo link, and the next review."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Case, Count, F, IntegerField, Value, When, Window
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.layers import LayerView
from content.models import Draft, Layer, Post
from content.posts.decide import LayerOutcome
from content.store.scopes import filter_by_changeable_post
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.content_scope import Scoped
from proofroom_apps.editorial.posts.post_pages import (
    MAX_REJECTIONS,
    drafts_with_titles,
    layer_label,
    post_url,
    rejection_url,
    review_url,
    title_of,
)


def add_confirmations(
    request: HttpRequest, post: Post, view: LayerView, done: LayerOutcome
) -> None:
    """Add messages about the decisions."""
    if done.taken:
        # Undo link, for users with permission.
        undo = url = ""
        # The changes were submitted to Review, so they can be removed there.
        if view.layer == Layer.AI_REVIEW and not done.is_live:
            undo = _("Undo in Review")
            url = review_url(post, Layer.REVIEW)
        elif may(request, "posts.revisions.manage"):
            undo = _("Undo")
            url = post_url("revisions", post)
        messages.success(request, _with_link(_taken_text(view, done), undo, url))
    if done.rejected:
        messages.success(request, rejected_message(post, len(done.rejected), done.rejections))
    if done.conflicts:
        text = ngettext(
            (
                "%(count)s change stayed in AI Review, because a person staged "
                "another value in Review."
            ),
            (
                "%(count)s changes stayed in AI Review, because a person staged "
                "other values in Review."
            ),
            len(done.conflicts),
        )
        messages.warning(request, text % {"count": len(done.conflicts)})
    following = find_next_review(post, view.layer, actor_of(request))
    if following is not None:
        names = {"title": following.title, "layer": layer_label(following.layer)}
        label = _("%(title)s (%(layer)s)") % names
        messages.info(request, _with_link(_("Next in the inbox:"), label, following.url))


def rejected_message(post: Post, count: int, rejections: Collection[int]) -> SafeString:
    """Return the message on rejections, with an undo button."""
    text = ngettext(
        "%(count)s change rejected. You can undo this under Revisions for 30 days.",
        "%(count)s changes rejected. You can undo this under Revisions for 30 days.",
        count,
    ) % {"count": count}
    # The button's address contains the ids, and must not get too long for servers.
    if not 0 < len(rejections) <= MAX_REJECTIONS:
        return format_html("{}", text)
    return format_html("{} {}", text, take_back_button(post, rejections, _("Undo")))


def take_back_button(post: Post, rejections: Collection[int], label: str) -> SafeString:
    """Return the undo button of a message. Its form is in the frame of every page."""
    return format_html(
        '<button type="submit" form="message-form" formaction="{}">{}</button>',
        rejection_url(post, rejections),
        label,
    )


def _taken_text(view: LayerView, done: LayerOutcome) -> str:
    count = len(done.taken)
    if done.is_published:
        text = ngettext(
            "%(count)s change approved, and the post is published.",
            "%(count)s changes approved, and the post is published.",
            count,
        )
    elif view.layer == Layer.AI_REVIEW and not done.is_live:
        text = ngettext(
            "%(count)s change submitted to Review. Nothing is live yet.",
            "%(count)s changes submitted to Review. Nothing is live yet.",
            count,
        )
    elif done.is_live:
        text = ngettext(
            "%(count)s change approved and live.",
            "%(count)s changes approved and live.",
            count,
        )
    else:
        text = ngettext(
            "%(count)s change approved. The post itself is not published.",
            "%(count)s changes approved. The post itself is not published.",
            count,
        )
    return text % {"count": count}


def _with_link(text: str, label: str, url: str) -> SafeString:
    if not url:
        return format_html("{}", text)
    return format_html('{} <a href="{}">{}</a>', text, url, label)


@dataclass(frozen=True, slots=True)
class NextReview:
    """The next post to review, and the number of other waiting layers."""

    title: str
    url: str
    layer: str
    total: int


def find_next_review(post: Post, layer: Layer, who: Scoped) -> NextReview | None:
    """Return the next layer of another post that the user may decide on. One query.

    Layers of the same kind come first, then the longest waiting.
    """
    drafts = Draft.objects.filter(is_empty=False, post__deleted_at__isnull=True)
    waiting = filter_by_changeable_post(drafts, who).exclude(post=post)
    elsewhere = Case(
        When(layer=layer, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    row = (
        drafts_with_titles(waiting)
        # The window counts all waiting layers in the query that reads the first of them.
        .annotate(elsewhere=elsewhere, total=Window(Count("*")))
        .select_related("post")
        .defer("base", "document", "marks")
        .order_by("elsewhere", F("updated_at"), "pk")
        .first()
    )
    if row is None:
        return None
    total: int = row.total
    return NextReview(title_of(row.post, row), review_url(row.post, row.layer), row.layer, total)
