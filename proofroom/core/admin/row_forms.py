"""Pages whose form holds rows: items of a menu, modules of a group, fields of a form.

Every button but the one that saves changes the rows that were sent, and shows the form again.
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
    """A form with a hidden field for the rows, which are read from all that was sent."""

    rows_field: ClassVar[str]
    wire_name: ClassVar[str]
    """What the service calls the rows in its refusals."""
    unreadable: ClassVar[Words] = gettext_lazy("This is not valid JSON: %(problem)s.")
    problems: Mapping[str, Sequence[str]] = {}
    """What was refused, by the path of the row."""

    def rows_sent(self, data: QueryDict) -> object:
        """The rows as they were sent. Raises `ValueError` where they cannot be read."""
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
        """Return what the page says above the rows."""
        return [*self.errors.get(self.rows_field, ()), *self.errors.get("version", ())]

    @contextmanager
    def refusals_at_rows(self) -> Iterator[None]:
        """Have what is wrong in a row said by the row; above the rows only that it is so."""
        try:
            yield
        except RuleViolation as error:
            self.problems = error.details
            details: dict[str, list[str]] = {}
            for path, sentences in error.details.items():
                name, _dot, rest = path.partition(".")
                said = [_("Not saved. Correct the marked fields.")]
                field = self.rows_field if name == self.wire_name else name
                details[field] = said if rest else list(sentences)
            raise RuleViolation(error.message, code=error.code, details=details) from None


class ShownAgainAdmin(EditAdmin[M]):
    """Every button but the one that saves shows the form again, with what it did."""

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
        """The form with what was sent, after the button that was pressed."""
        return self.change_form(initial=request.POST.dict())


def is_saving(request: HttpRequest) -> bool:
    """Return whether the form is asked for, or sent to be saved."""
    return request.method != "POST" or request.POST.get("do", "save") == "save"
