"""The page that adds a form to a page of the site."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from forms.models import FormDefinition
from forms.services.placement import add_to_page, pages_for_form
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.core.validation.input_validation import parse_uuid

_MAX_OFFERED: Final = 20
_MAX_WORDS: Final = 100


def add_to_page_view(request: HttpRequest, form_id: str) -> HttpResponse:
    """GET searches pages, POST adds the form to the chosen one and leads there."""
    require(request, "forms.edit")
    actor = actor_of(request)
    form = find_by_id(FormDefinition.objects, form_id)
    if form is None:
        raise Http404(_("Form not found."))
    problem, status = "", 200
    if request.method == "POST":
        try:
            # A text that is no id finds no page.
            chosen = parse_uuid(request.POST.get("page", ""))
            if chosen is None:
                raise RuleViolation(_("Choose a page."))
            post, is_in_review = add_to_page(form=form, post_id=chosen, actor=actor)
        except CmsError as error:
            problem, status = error.message, error.status
        else:
            names = {"form": form.title, "page": post.title}
            if is_in_review:
                messages.success(
                    request, _("“%(form)s” was added to “%(page)s”. Publish it in Review.") % names
                )
                address = reverse("admin:content_post_review", args=[post.pk])
                return HttpResponseRedirect(f"{address}?layer=review")
            messages.success(request, _("“%(form)s” was added to the draft “%(page)s”.") % names)
            return HttpResponseRedirect(reverse("admin:content_post_change", args=[post.pk]))
    words = request.GET.get("q", "").strip().replace("\x00", "")[:_MAX_WORDS]
    pages = pages_for_form(form, actor)
    if words:
        pages = pages.filter(title__icontains=words)
    context = {
        "form_row": form,
        "words": words,
        "pages": pages.only("title", "path", "locale", "status", "type")[:_MAX_OFFERED],
        "problem": problem,
        "back": reverse("admin:forms_formdefinition_change", args=[form.pk]),
    }
    title = _("Add “%(form)s” to a page") % {"form": form.title}
    page = form_page(
        request, "admin/site_forms/add_to_page.html", FormDefinition, context, title=title
    )
    page.status_code = status
    return page
