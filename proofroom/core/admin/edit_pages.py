"""Pages to change an object in one form and to delete it after a confirmation, both through services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import messages
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.admin.form_pages import (
    FormAdmin,
    form_page,
    save_form,
    service_errors_at_fields,
)
from proofroom.core.admin.permissions import require
from proofroom.core.database.id_filters import find_by_id

if TYPE_CHECKING:
    from proofroom.core.admin.form_pages import Words

M = TypeVar("M", bound=Model)


class EditAdmin(FormAdmin[M]):
    """A list with an edit page for each object, addressed by a UUID.

    `add_permission` also covers changing and deleting. `change` and `remove` call the services.
    """

    change_form: ClassVar[type[Form]]
    change_template: ClassVar[str] = "admin/forms/edit.html"
    delete_form: ClassVar[type[Form]] = Form
    delete_sentence: ClassVar[Words]

    def initial(self, row: M) -> Mapping[str, object]:
        """Return the initial values of the form."""
        raise NotImplementedError

    def form_of(self, request: HttpRequest, row: M, data: QueryDict | None) -> Form:
        """Return the form, bound to `data` unless it is None."""
        return self.change_form(data, initial=dict(self.initial(self.edited(request, row))))

    def shown(self, request: HttpRequest, row: M, form: Form) -> Mapping[str, object]:
        """Return the context of the page around the form."""
        return {}

    def edited(self, request: HttpRequest, row: M) -> M:
        """Return the row to show in the form. Override it if the form shows something else than the stored row."""
        return row

    def change(self, request: HttpRequest, row: M, form: Form) -> str | None:
        """Save the form. Return the message to show, or None for the default message."""
        raise NotImplementedError

    def remove(self, request: HttpRequest, row: M, form: Form) -> None:
        """Delete the row."""
        raise NotImplementedError

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self.has_add_permission(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, self.add_permission)
        row = self._find(object_id)
        posted = request.POST if request.method == "POST" else None
        form = self.form_of(request, row, posted)
        # `save_form` returns whether it succeeded, so `change` passes its message through this
        # list.
        saved_messages: list[str | None] = []
        if posted is not None and save_form(
            form, lambda: saved_messages.append(self.change(request, row, form))
        ):
            messages.success(request, saved_messages[0] or _("Saved."))
            return HttpResponseRedirect(request.path)
        return self.change_page(request, row, form)

    def change_page(self, request: HttpRequest, row: M, form: Form) -> HttpResponse:
        """Return the page with the form in its current state."""
        context = {
            "row": row,
            "delete_url": self._address("delete", row),
            **self.shown(request, row, form),
        }
        return form_page(
            request, self.change_template, self.model, context, title=str(row), form=form
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Confirm on GET, delete on POST."""
        require(request, self.add_permission)
        row = self._find(object_id)
        name = str(row)
        form = self.delete_form(request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            with service_errors_at_fields(form):
                self.remove(request, row, form)
            if not form.errors:
                messages.success(request, _("Deleted %(name)s.") % {"name": name})
                return HttpResponseRedirect(reverse(self._list))
        context = {"sentence": self.delete_sentence, "back": self._address("change", row)}
        return form_page(
            request,
            "admin/forms/delete.html",
            self.model,
            context,
            title=_("Delete: %(name)s") % {"name": name},
            form=form,
        )

    @property
    def _list(self) -> str:
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"

    def _address(self, page: str, row: M) -> str:
        return reverse(self._list.replace("changelist", page), args=[row.pk])

    def _find(self, id_: str) -> M:
        row = find_by_id(self.model._default_manager, id_)
        if row is None:
            raise Http404(_("Not found."))
        return row
