"""A new post: what it is, in which language, and its title. Its modules come from the type's default group."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from content.posts.create import create_post
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError
from proofroom.core.i18n import in_words
from proofroom.core.i18n.form_errors import with_label
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom.editorial.posts.post_pages import page, post_url


@answers_refusals
def add(request: HttpRequest) -> HttpResponse:
    """GET shows the form, POST makes a draft."""
    require(request, "posts.create")
    typed = {
        "type": request.POST.get("type") or request.GET.get("type") or "blog",
        "locale": request.POST.get("locale") or settings.CMS_ENV.default_locale,
        "title": request.POST.get("title", ""),
        "slug": request.POST.get("slug", ""),
    }
    problem, status = "", 200
    errors: dict[str, list[str]] = {}
    if request.method == "POST":
        fields = {"title": typed["title"], **({"slug": typed["slug"]} if typed["slug"] else {})}
        try:
            post = create_post(
                actor=actor_of(request), type=typed["type"], locale=typed["locale"], fields=fields
            )
        except CmsError as error:
            if error.status == 403:
                raise
            # What was refused of the fields that the form has.
            labels = {"title": _("Title"), "slug": _("Slug")}
            errors, status = (
                {
                    name: with_label(label, name, error.details[name])
                    for name, label in labels.items()
                    if name in error.details
                },
                error.status,
            )
            problem = "" if errors else error.message
        else:
            messages.success(request, _("“%(title)s” is a draft.") % {"title": post.title})
            return HttpResponseRedirect(post_url("change", post))
    context = {
        "typed": typed,
        "problem": problem,
        "errors": errors,
        "types": [(definition.name, in_words(definition.label)) for definition in post_types],
        "locales": site_languages(),
    }
    return page(request, "admin/posts/add.html", context, title=_("New post"), status=status)
