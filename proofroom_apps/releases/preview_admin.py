"""The preview of a release in the admin: the site in a frame, and temporary links that show it to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, re_path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.middleware import allow_admin_frame
from proofroom.core.site_urls import release_preview_url
from proofroom_apps.editorial.posts.previews import WIDTHS, PreviewSwitch, lifetimes
from proofroom_apps.previews.services import USUAL_HOURS
from proofroom_apps.releases.models import Release, ReleasePreviewLink
from proofroom_apps.releases.preview import MAX_SHOWN, show_release, viewable_kinds
from proofroom_apps.releases.preview_links import (
    PREVIEW,
    closed_reason,
    create_release_link,
    list_release_links,
    revoke_release_link,
)
from proofroom_apps.releases.preview_pages import preview_answer
from proofroom_apps.releases.queries import MANAGE, find_release

_MAX_LINKS: Final = 100
_PREVIEW_PAGE: Final = "proofroom_releases_release_preview"
_SITE_PAGE: Final = "proofroom_releases_release_preview_site"


class ReleaseLinkForm(forms.Form):
    """The lifetime of a new link."""

    expiresInHours = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"), coerce=int, initial=USUAL_HOURS, choices=lifetimes
    )


@dataclass(frozen=True, slots=True)
class ReleaseLinkRow:
    """A link in the list. `closed` says why it does not work."""

    link: ReleasePreviewLink
    closed: str | None


def preview_urls(site: AdminSite) -> list[URLPattern]:
    """Return the addresses of the preview below the list of releases."""
    return [
        path("<uuid:release_id>/preview/", site.admin_view(release_preview), name=_PREVIEW_PAGE),
        re_path(
            r"^(?P<release_id>[0-9a-f-]{36})/preview/site/(?P<page_path>.*)$",
            site.admin_view(preview_site),
            name=_SITE_PAGE,
        ),
    ]


def preview_url(release: Release) -> str:
    """Return the address of the page with the preview of a release."""
    return reverse(f"admin:{_PREVIEW_PAGE}", args=[release.pk])


@service_errors_as_http
def release_preview(request: HttpRequest, release_id: UUID) -> HttpResponse:
    """GET shows the site in a frame and the links. POST creates one, shown only once, or revokes one."""
    require(request, MANAGE)
    release = find_release(release_id, actor_of(request))
    may_share = may(request, PREVIEW)
    do = request.POST.get("do", "")
    if do == "revoke":
        with service_errors_as_messages(request):
            chosen = request.POST.get("value", "")
            revoke_release_link(release_id=release.pk, link_id=chosen, actor=actor_of(request))
            messages.success(request, _("Link revoked. It no longer works."))
        return HttpResponseRedirect(request.path)
    form = ReleaseLinkForm(request.POST if do == "create" else None)
    made: list[str] = []

    def create() -> None:
        hours = form.cleaned_data["expiresInHours"]
        _link, token = create_release_link(
            release_id=release.pk, actor=actor_of(request), hours=hours
        )
        made.append(release_preview_url(token))

    if form.is_bound:
        save_form(form, create)
    width = request.GET.get("width", "")
    width = width if width in WIDTHS else "full"
    links = (
        list_release_links(release.pk, actor_of(request)).select_related("created_by")[:_MAX_LINKS]
        if may_share
        else ()
    )
    context = {
        "release": release,
        "width": width,
        "widths": [
            PreviewSwitch(str(label), f"?{urlencode({'width': name})}", name == width)
            for name, label in WIDTHS.items()
        ],
        "frame_url": reverse(f"admin:{_SITE_PAGE}", args=[release.pk, ""]),
        "most": MAX_SHOWN,
        "is_large": getattr(release, "item_count", 0) > MAX_SHOWN,
        "back": reverse("admin:proofroom_releases_release_change", args=[release.pk]),
        "may_share": may_share,
        "lines": [ReleaseLinkRow(link, closed_reason(link)) for link in links],
        "made": made,
    }
    title = _("Preview: %(title)s") % {"title": release.name}
    return form_page(
        request, "admin/releases/preview.html", Release, context, title=title, form=form
    )


@service_errors_as_http
@allow_admin_frame
def preview_site(request: HttpRequest, release_id: str, page_path: str) -> HttpResponse:
    """Return a page of the site as of the release, with what the reader may view."""
    require(request, MANAGE)
    actor = actor_of(request)
    release = find_release(release_id, actor)
    prefix = reverse(f"admin:{_SITE_PAGE}", args=[release.pk, ""]).rstrip("/")
    with show_release(release, actor, viewable_kinds(actor)) as preview:
        return preview_answer(request, preview, f"/{page_path}", prefix)
