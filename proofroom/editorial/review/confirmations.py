"""Messages after decisions: what happened, how it can be taken back, and where the next one waits."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.layers import LayerView
from content.layers.decide import LayerOutcome
from content.models import Layer, Post, Status
from proofroom.core.admin.permissions import may
from proofroom.editorial.posts.post_pages import MAX_REJECTIONS, post_url, rejection_url, review_url
from proofroom.editorial.review.cards import layer_label
from proofroom.editorial.review.next_reviews import find_next_review


def add_confirmations(
    request: HttpRequest, post: Post, view: LayerView, done: LayerOutcome
) -> None:
    """Leave messages about what was decided."""
    if done.taken:
        messages.success(
            request,
            _with_link(_taken(post, view, len(done.taken)), *_way_back(request, post, view)),
        )
    if done.rejected:
        messages.success(request, rejected_words(post, len(done.rejected), done.rejections))
    if done.conflicts:
        text = ngettext(
            "%(count)s stayed in AI Review, because a person staged another value in Review.",
            "%(count)s stayed in AI Review, because a person staged other values in Review.",
            len(done.conflicts),
        )
        messages.warning(request, text % {"count": len(done.conflicts)})
    following = find_next_review(post, view.layer)
    if following is not None:
        words = _("%(title)s (%(layer)s)") % {
            "title": following.title,
            "layer": layer_label(following.layer),
        }
        messages.info(request, _with_link(_("Next in the inbox:"), words, following.url))


def rejected_words(post: Post, count: int, rejections: Collection[int]) -> SafeString:
    """Return what was rejected, with a button that takes it back."""
    text = ngettext(
        "%(count)s change rejected. For 30 days it can be taken back, here or under Revisions.",
        "%(count)s changes rejected. For 30 days they can be taken back, here or under Revisions.",
        count,
    ) % {"count": count}
    if not 0 < len(rejections) <= MAX_REJECTIONS:
        return format_html("{}", text)
    return format_html("{} {}", text, take_back_button(post, rejections, _("Take it back")))


def take_back_button(post: Post, rejections: Collection[int], words: str) -> SafeString:
    """Of a message; the form that it belongs to stands in the frame of every page."""
    return format_html(
        '<button type="submit" form="message-form" formaction="{}">{}</button>',
        rejection_url(post, rejections),
        words,
    )


def _taken(post: Post, view: LayerView, count: int) -> str:
    if view.layer == Layer.AI_REVIEW:
        text = ngettext(
            "%(count)s change submitted to Review. Nothing is live yet.",
            "%(count)s changes submitted to Review. Nothing is live yet.",
            count,
        )
    elif post.status == Status.PUBLISHED:
        text = ngettext(
            "%(count)s change approved: it is live now.",
            "%(count)s changes approved: they are live now.",
            count,
        )
    else:
        text = ngettext(
            "%(count)s change approved. The post itself is not published.",
            "%(count)s changes approved. The post itself is not published.",
            count,
        )
    return text % {"count": count}


def _way_back(request: HttpRequest, post: Post, view: LayerView) -> tuple[str, str]:
    """The link to what takes it back, for those who may."""
    if view.layer == Layer.AI_REVIEW:
        return _("Take it back: reject it in Review"), review_url(post, Layer.REVIEW)
    if may(request, "posts.revisions.manage"):
        return _("Take it back: restore the revision before"), post_url("revisions", post)
    return "", ""


def _with_link(text: str, words: str, url: str) -> SafeString:
    if not url:
        return format_html("{}", text)
    return format_html('{} <a href="{}">{}</a>', text, url, words)
