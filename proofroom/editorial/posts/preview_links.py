"""The preview links of a post: made for a while, counted, revoked. An address is shown once, when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from content.models import PreviewLink
from content.previews.services import create_preview_link, revoke_preview_link, why_closed
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    answers_refusals,
    refusals_as_messages,
    require,
)
from proofroom.core.site_urls import preview_url
from proofroom.editorial.posts.post_pages import post_page, read
from proofroom.editorial.translations.copy_forms import PreviewForm

_MOST = 100


@dataclass(frozen=True, slots=True)
class PreviewLinkRow:
    """A link in the list; `closed` says why it opens nothing."""

    link: PreviewLink
    closed: str | None


@answers_refusals
def previews(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists the links, POST makes one, whose address is shown this once, or revokes one."""
    require(request, "posts.preview")
    post, layers = read(post_id)
    do = request.POST.get("do", "")
    if do == "revoke":
        with refusals_as_messages(request):
            chosen = request.POST.get("value", "")
            revoke_preview_link(post_id=post_id, link_id=chosen, actor=actor_of(request))
            messages.success(
                request, _("The link is revoked. Whoever has it sees nothing any more.")
            )
        return HttpResponseRedirect(request.path)
    form = PreviewForm(request.POST if do == "create" else None)
    made: list[str] = []

    def create() -> None:
        words = form.cleaned_data
        _link, token = create_preview_link(
            post_id=post.pk,
            layer=words["layer"],
            hours=words["expiresInHours"],
            actor=actor_of(request),
        )
        made.append(preview_url(token))

    if form.is_bound:
        save_form(form, create)
    rows = post.preview_links.select_related("created_by").order_by("-created_at")[:_MOST]
    lines = [PreviewLinkRow(row, why_closed(row)) for row in rows]
    return post_page(
        request,
        "admin/structure/preview_links.html",
        post,
        layers,
        {"lines": lines, "form": form, "made": made},
        title=_("Preview links: %(title)s") % {"title": post.title},
        tab="preview",
        status=422 if form.errors else 200,
    )
