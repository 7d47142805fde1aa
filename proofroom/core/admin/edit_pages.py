"""Pages where a thing is changed by one form and deleted after a question, through services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import messages
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.admin.form_pages import FormAdmin, form_page, refusals_at_fields, save_form
from proofroom.core.admin.permissions import require
from proofroom.core.database.lookups import find_by_id

if TYPE_CHECKING:
    from proofroom.core.admin.form_pages import Words

M = TypeVar("M", bound=Model)


class EditAdmin(FormAdmin[M]):
    """A list with a page for each thing, known by a UUID.

    Whoever has `add_permission` changes and deletes too. `change` and `remove` call the services.
    """

    change_form: ClassVar[type[Form]]
    change_template: ClassVar[str] = "admin/forms/edit.html"
    delete_form: ClassVar[type[Form]] = Form
    delete_sentence: ClassVar[Words]

    def initial(self, row: M) -> Mapping[str, object]:
        """Return what the form starts with."""
        raise NotImplementedError

    def form_of(self, request: HttpRequest, row: M, data: QueryDict | None) -> Form:
        """The form with what is stored or, unless `data` is None, with what was sent."""
        return self.change_form(data, initial=dict(self.initial(self.edited(request, row))))

    def shown(self, request: HttpRequest, row: M, form: Form) -> Mapping[str, object]:
        """Return what the page shows around the form."""
        return {}

    def edited(self, request: HttpRequest, row: M) -> M:
        """The row as the form shows it, where that is not what is stored."""
        return row

    def change(self, request: HttpRequest, row: M, form: Form) -> str | None:
        """Make the row what the form says. Answers what to say of it, where that is not that it is saved."""
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
        said: list[str | None] = []
        if posted is not None and save_form(
            form, lambda: said.append(self.change(request, row, form))
        ):
            messages.success(request, said[0] or _("Saved."))
            return HttpResponseRedirect(request.path)
        return self.change_page(request, row, form)

    def change_page(self, request: HttpRequest, row: M, form: Form) -> HttpResponse:
        """The page with the form as it stands."""
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
        """GET asks, POST deletes."""
        require(request, self.add_permission)
        row = self._find(object_id)
        name = str(row)
        form = self.delete_form(request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            with refusals_at_fields(form):
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
