"""Pages with a form for rows: items of a menu, modules of a group, fields of a form.

Each button except the save button changes the submitted rows and shows the form again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.db.models import Model
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.permissions import require
from proofroom.core.errors import RuleViolation

if TYPE_CHECKING:
    from proofroom.core.admin.form_pages import Words

M = TypeVar("M", bound=Model)


class RowsForm(Form):
    """A form with a hidden field for the rows, which are parsed from the whole submission."""

    rows_field: ClassVar[str]
    wire_name: ClassVar[str]
    """Name of the rows in the service's errors."""
    unreadable: ClassVar[Words] = gettext_lazy("This is not valid JSON: %(problem)s.")
    problems: Mapping[str, Sequence[str]] = {}
    """Errors by the path of the row."""

    def rows_sent(self, data: QueryDict) -> object:
        """Parse the submitted rows. Raises `ValueError`."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        if not isinstance(self.data, QueryDict):
            raise TypeError(self.data)
        try:
            self.cleaned_data[self.rows_field] = self.rows_sent(self.data)
        except ValueError as error:
            self.add_error(
                self.rows_field, self.unreadable % {"problem": str(error)[:100].rstrip(".")}
            )
        return self.cleaned_data

    def rows_errors(self) -> Sequence[str]:
        """Return the errors to show above the rows."""
        return [*self.errors.get(self.rows_field, ()), *self.errors.get("version", ())]

    @contextmanager
    def service_errors_at_rows(self) -> Iterator[None]:
        """Show errors of a row at the row, and one general message above the rows."""
        try:
            yield
        except RuleViolation as error:
            self.problems = error.details
            details: dict[str, list[str]] = {}
            for path, sentences in error.details.items():
                name, _dot, rest = path.partition(".")
                messages = [_("Not saved. Correct the marked fields.")]
                field = self.rows_field if name == self.wire_name else name
                details[field] = messages if rest else list(sentences)
            raise RuleViolation(error.message, code=error.code, details=details) from None


class RedisplayAdmin(EditAdmin[M]):
    """A page that shows its form again after each button except the save button."""

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if is_saving(request):
            return super().change_view(request, object_id, form_url, extra_context)
        require(request, self.add_permission)
        row = self._find(object_id)
        return self.change_page(request, row, self.change_again(request, row))

    def change_again(self, request: HttpRequest, row: M) -> Form:
        """Return the form for the submitted values after applying the pressed button."""
        return self.change_form(initial=request.POST.dict())


def is_saving(request: HttpRequest) -> bool:
    """Return whether the request opens the form or saves it."""
    return request.method != "POST" or request.POST.get("do", "save") == "save"
