"""Pages of posts with running variations. Each visitor is assigned one arm and always sees the same.

Shared caches cannot store them: the arm depends on the visitor's IP address, which `Vary` cannot name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from content.models import PostModule
from content.store.arms import ORIGINAL, Arm, arm_of_bucket, visitor_bucket
from proofroom.core.bots import is_program
from proofroom.core.caching.rate_limits import client_address, rate_limit_key
from proofroom_apps.website import queries
from proofroom_apps.website.form_submission import SubmissionResult
from proofroom_apps.website.http_cache import HTML, RenderedPage, RequestedPage, cached_answer
from proofroom_apps.website.pages import post_page
from proofroom_apps.website.queries import FoundPost


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """The arm to show; None is the original. An arm named in the address is a preview and is not counted."""

    arm: Arm | None
    is_named: bool = False

    @property
    def name(self) -> str:
        arm = self.arm.post_id.hex if self.arm is not None else ORIGINAL
        return f"arm-{arm}{'-named' if self.is_named else ''}"


def arm_page(
    request: HttpRequest, asked: RequestedPage, found: FoundPost
) -> HttpResponseBase | None:
    """Return the page at the address of a post with running variations."""
    sent = request.GET.get("sent", "")
    choice = _choice(request, found, sent)
    # The name is part of the cache key and of the ETag, so arms never share an answer.
    form = replace(HTML, name=choice.name, is_shared=False)

    def render() -> RenderedPage:
        arm = queries.load_variation_arm(found, choice.arm) if choice.arm is not None else None
        submission = SubmissionResult(sent) if sent else None
        return RenderedPage(post_page(arm or found, submission, is_counted=not choice.is_named))

    answer = cached_answer(asked, form, found.state, render, is_for_all=False)
    if answer is None:
        return None
    response = answer.response()
    if choice.is_named:
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def page_with(path: str, locale: str, module_id: str) -> FoundPost | None:
    """Return the published page at a path, in the arm that contains the module; None without a page.

    The visitor saw this arm, since the module was on the page.
    """
    found = queries.find_published_post(path, locale)
    choice = _choice_with(module_id, found) if found is not None and found.arms else None
    if found is None or choice is None or choice.arm is None:
        return found
    return queries.load_variation_arm(found, choice.arm)


def _choice(request: HttpRequest, found: FoundPost, sent: str) -> ArmChoice:
    name = request.GET.get("variation")
    if name == ORIGINAL:
        return ArmChoice(None, is_named=True)
    for arm in found.arms:
        if arm.name == name:
            return ArmChoice(arm, is_named=True)
    user_agent = request.META.get("HTTP_USER_AGENT", "")
    # Search engines and other programs always get the original.
    if is_program(user_agent):
        return ArmChoice(None)
    # After submitting a form, show the arm that contains it, also if the IP address has changed.
    if sent and (sent_from := _choice_with(sent, found)) is not None:
        return sent_from
    address = rate_limit_key(client_address(request))
    return ArmChoice(arm_of_bucket(visitor_bucket(found.post.pk, address, user_agent), found.arms))


def _choice_with(module_id: str, found: FoundPost) -> ArmChoice | None:
    """Return the arm with the module, or the original. One query, none for an invalid id."""
    try:
        id_ = UUID(module_id)
    except ValueError:
        return None
    arms = {arm.post_id: arm for arm in found.arms}
    # The id comes from the address: accept modules of this post and of its arms only.
    placed = PostModule.objects.filter(pk=id_, post_id__in=[found.post.pk, *arms])
    holder = placed.values_list("post_id", flat=True).first()
    return ArmChoice(arms.get(holder)) if holder is not None else None
