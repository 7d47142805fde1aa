"""The first two steps of a new site: name it, and create the home page. Its title is the name of the site."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from content.document.post_fields import TITLE_MAX
from content.models import Post, Status
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.store.document_edits import patch_fields
from content.store.post_paths import HOME_SLUG, pattern_of
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.site_urls import home_path
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.post_pages import post_url

_PERMISSIONS = ("posts.create", "posts.edit", "posts.publish")


@dataclass(frozen=True, slots=True)
class SiteSetup:
    """The steps that are left. `name` is empty until the first one is done."""

    name: str
    write_url: str
    name_max: int = TITLE_MAX
    steps: int = 2

    @property
    def done(self) -> int:
        return 1 if self.name else 0


def site_setup(request: HttpRequest) -> SiteSetup | None:
    """Return the steps; None if the home page is live, or the user cannot create it. One query, two on a new site."""
    if actor_of(request).scopes or not all(may(request, one) for one in _PERMISSIONS):
        return None
    home = _find_home()
    if home is None:
        return SiteSetup("", "") if _home_type() else None
    if home.status == Status.PUBLISHED:
        return None
    return SiteSetup(home.title, post_url("change", home))


@require_POST
@service_errors_as_http
def name_site(request: HttpRequest) -> HttpResponse:
    """Name the site: create the home page as a draft with that title, or rename the draft."""
    for permission in _PERMISSIONS:
        require(request, permission)
    name, actor = request.POST.get("name", "").strip(), actor_of(request)
    home, type_ = _find_home(), _home_type()
    with service_errors_as_messages(request):
        if home is None and type_:
            fields = {"title": name, "slug": HOME_SLUG}
            locale = settings.CMS_ENV.default_locale
            create_post(actor=actor, type=type_, locale=locale, fields=fields)
            messages.success(request, _("The site is called %(name)s.") % {"name": name})
        elif home is not None and home.status != Status.PUBLISHED:
            edit_post(
                post_id=home.pk,
                actor=actor,
                edit=lambda document: patch_fields(document, {"title": name}),
            )
            messages.success(request, _("The site is called %(name)s.") % {"name": name})
    return HttpResponseRedirect(reverse("admin:index"))


def _find_home() -> Post | None:
    locale = settings.CMS_ENV.default_locale
    found = Post.objects.alive().filter(path=home_path(locale), locale=locale)
    return found.only("pk", "title", "status").first()


def _home_type() -> str:
    """Return the first post type that has a page at the address of the home page; empty if none has."""
    locale = settings.CMS_ENV.default_locale
    trees = [definition.name for definition in post_types if definition.hierarchical]
    return next((name for name in trees if pattern_of(name, locale) == "/{path}"), "")
