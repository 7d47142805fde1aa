"""A page with a form whose answer a service gives: its refusals stand at the fields that they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse

from core.errors import CmsError, NotAllowed, NotFound


@contextmanager
def refusals_at_fields(form: Form) -> Iterator[None]:
    """Put what a service refuses into the form; `NotAllowed` and `NotFound` become the pages for 403 and 404."""
    try:
        yield
    except NotAllowed as error:
        raise PermissionDenied(error.message) from None
    except NotFound as error:
        raise Http404(error.message) from None
    except CmsError as error:
        known = {name: texts for name, texts in error.details.items() if name in form.fields}
        for name, texts in known.items():
            form.add_error(name, texts)
        if not known:
            form.add_error(None, error.message)


def saved(form: Form, save: Callable[[], object]) -> bool:
    """Check the form and call the service. Answers whether all went well; if not, the form says what did not."""
    if not form.is_valid():
        return False
    with refusals_at_fields(form):
        save()
    return not form.errors


def form_page(
    request: HttpRequest,
    template: str,
    model: type[Model],
    context: dict[str, Any],
    *,
    title: str,
    form: Form | None = None,
) -> TemplateResponse:
    """A page in the frame of the admin; 422 where the form was refused."""
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": model._meta,
        "form": form,
        **context,
    }
    status = 422 if form is not None and form.is_bound and form.errors else 200
    return TemplateResponse(request, template, frame, status=status)
