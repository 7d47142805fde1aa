"""Pages with a form that a service handles. The errors of the service appear at their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from proofroom.core.admin.form_stamps import reject_stale_form, stamp_of
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import may, require
from proofroom.core.errors import CmsError, NotAllowed, NotFound
from proofroom.core.validation.form_fields import with_label

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = str | StrPromise

M = TypeVar("M", bound=Model)


@contextmanager
def service_errors_at_fields(form: Form) -> Iterator[None]:
    """Add a service's errors to the form. `NotAllowed` becomes 403 and `NotFound` becomes 404."""
    try:
        yield
    except NotAllowed as error:
        raise PermissionDenied(error.message) from None
    except NotFound as error:
        raise Http404(error.message) from None
    except CmsError as error:
        known = {name: texts for name, texts in error.details.items() if name in form.fields}
        for name, texts in known.items():
            form.add_error(name, with_label(form[name].label, name, texts))
        # No field of the form is concerned, so show the message above the form.
        if not known:
            form.add_error(None, error.message)


def save_form(form: Form, save: Callable[[], object]) -> bool:
    """Validate the form and call the service. Return whether both succeeded; otherwise the form has the errors."""
    if not form.is_valid():
        return False
    reject_stale_form(form)
    if form.errors:
        return False
    with service_errors_at_fields(form):
        save()
    return not form.errors


def answer_form(form: Form, answer: Callable[[], HttpResponse]) -> HttpResponse | None:
    """Validate the form, call the service and return its response. Return None if the form has errors."""
    if not form.is_valid():
        return None
    with service_errors_at_fields(form):
        return answer()
    return None


def form_page(
    request: HttpRequest,
    template: str,
    model: type[Model],
    context: dict[str, Any],
    *,
    title: Words,
    form: Form | None = None,
) -> TemplateResponse:
    """Return a page in the frame of the admin, with status 422 if the form has errors."""
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": model._meta,
        "list_title": _list_title(model),
        "form": form,
        "stamp": stamp_of(form) if form is not None else "",
        **context,
    }
    status = 422 if form is not None and form.is_bound and form.errors else 200
    return TemplateResponse(request, template, frame, status=status)


def _list_title(model: type[Model]) -> str:
    if not admin.site.is_registered(model):
        return ""
    return getattr(admin.site.get_model_admin(model), "list_title", "")


class FormAdmin(ListAdmin[M]):
    """A list with a page to add an object in one form, through a service.

    Adding needs `add_permission`. `add` calls the service and returns the redirect.
    """

    list_title: ClassVar[Words]
    add_permission: ClassVar[str]
    add_title: ClassVar[Words]
    add_button: ClassVar[Words]
    add_form: ClassVar[type[Form]]
    add_template: ClassVar[str] = "admin/forms/one.html"

    def new_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Form:
        """Return the form for these arguments."""
        return self.add_form(*args, **kwargs)

    def add(self, request: HttpRequest, form: Form) -> HttpResponse:
        """Create what the form describes."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, self.add_permission)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": self.list_title, **(extra_context or {})})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, self.add_permission)
        if request.method == "POST":
            form = self.new_form(request, request.POST, request.FILES)
        else:
            form = self.new_form(request, initial=request.GET.dict())
        done = answer_form(form, lambda: self.add(request, form)) if form.is_bound else None
        if done is not None:
            return done
        context = {"button": self.add_button}
        return form_page(
            request, self.add_template, self.model, context, title=self.add_title, form=form
        )
