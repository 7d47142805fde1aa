"""The admin page for search engines (sitemap, canonical URLs, problems, `robots.txt`), and the address test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from content.models import Post, TreeMove
from content.posts.canonical_urls import posts_without_canonical, set_missing_canonicals
from content.store.post_queries import published_posts
from proofroom.core.admin.form_pages import form_page, service_errors_at_fields
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_messages
from proofroom.core.validation.limits import URL_MAX
from seo.models import Redirect
from seo.sitemap import cached_sitemap, origin_of, rebuild_sitemap
from seo.trace import Trace, trace_address
from seo.views import robots_text

_MOVES_SHOWN = 20


class AddressForm(forms.Form):
    path = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=URL_MAX,
        help_text=gettext_lazy("A path on this site, such as /blog/tea."),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def search_engines(request: HttpRequest) -> HttpResponse:
    """GET shows the page, POST runs the action of the pressed button."""
    require(request, "seo.manage")
    if request.method == "POST":
        with service_errors_as_messages(request):
            messages.success(request, run_action(request))
        return HttpResponseRedirect(reverse("admin:seo"))
    origin = origin_of(request)
    build = cached_sitemap(origin)
    moves = TreeMove.objects.select_related("post").order_by("created_at")
    context = {
        "build": build,
        "is_fresh": build is not None and build.is_fresh,
        "address": f"{origin}/sitemap.xml",
        "lacking": posts_without_canonical().count(),
        "robots": robots_text(origin),
        "problems": find_content_problems(),
        "moves": moves[:_MOVES_SHOWN],
        "address_form": AddressForm(),
    }
    return form_page(request, "admin/seo/overview.html", Redirect, context, title=_("SEO"))


def run_action(request: HttpRequest) -> str:
    """Run the action of the pressed button, and return a message."""
    actor = actor_of(request)
    if "rebuild" in request.POST:
        build = rebuild_sitemap(origin=origin_of(request), actor=actor)
        made = ngettext(
            "Sitemap updated: %(urls)s address.",
            "Sitemap updated: %(urls)s addresses.",
            build.urls,
        )
        return made % {"urls": f"{build.urls:,}"}
    if "populate" in request.POST:
        number = set_missing_canonicals(actor=actor)
        left = posts_without_canonical().count() if number else 0
        given = ngettext(
            "Set the canonical address of %(number)s post.",
            "Set the canonical address of %(number)s posts.",
            number,
        ) % {"number": f"{number:,}"}
        if not left:
            return given
        more = ngettext(
            "%(left)s post remaining. Click the button again.",
            "%(left)s posts remaining. Click the button again.",
            left,
        )
        return f"{given} {more % {'left': f'{left:,}'}}"
    return _("No action was selected.")


@require_safe
def address_trace(request: HttpRequest) -> HttpResponse:
    """Show the steps from an address to its response."""
    require(request, "seo.manage")
    form = AddressForm(request.GET if "path" in request.GET else None)
    found: Trace | None = None
    if form.is_bound and form.is_valid():
        with service_errors_at_fields(form):
            found = trace_address(form.cleaned_data["path"], actor_of(request))
    context = {"trace": found}
    return form_page(
        request, "admin/seo/trace.html", Redirect, context, title=_("Test an address"), form=form
    )


_POSTS_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class ContentProblem:
    """A kind of problem, with the number of affected posts and the first of them."""

    sentence: str
    number: int
    posts: list[Post]


def find_content_problems() -> list[ContentProblem]:
    """Return the existing kinds of problems, out of three. At most six queries."""
    posts = published_posts().only("pk", "title", "path", "locale").order_by("title", "pk")
    without = posts.filter(Q(meta_description__isnull=True) | Q(meta_description=""), excerpt="")
    groups = published_posts().annotate(name=Lower("title")).values("locale", "name")
    twice = groups.order_by().annotate(number=Count("pk")).filter(number__gt=1)
    named = posts.annotate(name=Lower("title"))
    doubles = named.filter(name__in=twice.values("name")).filter(locale__in=twice.values("locale"))
    # Matches objects with `index: false`; JSON strings don't have this key.
    hidden = posts.filter(robots_json__index=False)
    kinds = [
        (gettext_noop("published without a meta description or excerpt."), without),
        (
            gettext_noop("published with the same title as another one in the same language."),
            doubles,
        ),
        (gettext_noop("published, but hidden from search engines (noindex)."), hidden),
    ]
    counted = [(sentence, rows.count(), rows) for sentence, rows in kinds]
    return [
        ContentProblem(sentence, number, list(rows[:_POSTS_SHOWN]))
        for sentence, number, rows in counted
        if number
    ]
