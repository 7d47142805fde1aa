"""The page that limits an agent, a token or a connected client to a part of the content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from proofroom.accounts.admin.scope_fields import ScopeForm
from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.permissions import actor_of
from proofroom.core.content_scope import ContentScope


def limit_page(
    request: HttpRequest,
    template: str,
    model: type[Model],
    *,
    name: str,
    scope: ContentScope,
    limit: Callable[[ContentScope], object],
    back: str,
    context: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """GET shows the current `scope`. POST calls `limit` with the chosen scope and redirects to `back`.

    `name`: label of the limited object. Errors raised by `limit` are shown at the form's fields.
    """
    form = ScopeForm(
        request.POST if request.method == "POST" else None,
        scope=scope,
        who=actor_of(request),
    )
    if save_form(form, lambda: limit(form.scope)):
        messages.success(request, _("Saved the limits of %(name)s.") % {"name": name})
        return HttpResponseRedirect(back)
    page_context = {"button": _("Save limits"), **(context or {})}
    title = _("Limit %(name)s") % {"name": name}
    return form_page(request, template, model, page_context, title=title, form=form)
