"""Columns and filters that show stored codes as labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.database.distinct_values import distinct_values
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.outbox import all_kinds, find_kind


class InALanguage(Protocol):
    """A row with a language."""

    locale: str


@admin.display(description=gettext_lazy("Language"), ordering="locale")
def language(row: InALanguage) -> str:
    """Column with the language of a row."""
    return language_name(row.locale)


def kind_label(name: str) -> str:
    """Return the label of a kind of event, or its name if the kind is unknown."""
    kind = find_kind(name)
    return in_words(kind.label) if kind else name


def public_kind_label(name: str) -> str:
    """Return the label of an event by its name for webhooks and workflows, or else by its own name."""
    for kind in all_kinds():
        if kind.is_webhook and kind.public_name == name:
            return in_words(kind.label)
    return kind_label(name)


def badge(look: str, text: str) -> SafeString:
    """Return `text` as a badge in one of the colours of `static/cms/design/components.css`."""
    return format_html('<span class="badge badge-{}">{}</span>', look, text)


def switch_badge(is_on: bool) -> SafeString:
    return badge("succeeded", _("On")) if is_on else badge("archived", _("Off"))


class LabelFilter(AllValuesFieldListFilter):
    """A filter by the values that occur, shown with `label`. One query serves all such filters of a list.

    Set `has_indexed_labels` on the list if each of these columns is the first of an index and never null. The values
    are then found without reading all rows.
    """

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: dict[str, list[str]],
        model: type[Model],
        model_admin: ModelAdmin[Any],
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        self.lookup_choices: Any = _distinct_values(request, model_admin)[field_path]

    def label(self, value: str) -> str:
        raise NotImplementedError

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        for number, choice in enumerate(super().choices(changelist)):
            # The first choice is "All", which Django has already translated.
            words = choice["display"]
            if number:
                value, opens, count = str(words or ""), "", ""
                if changelist.add_facets:
                    # Django has appended the count to the value, as in "en (12)".
                    value, opens, count = value.rpartition(" (")
                words = f"{self.label(value)}{opens}{count}"
            yield {**choice, "display": words}


def _distinct_values(
    request: HttpRequest, model_admin: ModelAdmin[Any]
) -> Mapping[str, Sequence[str | None]]:
    """Return the values that occur in the list, by the fields with a `LabelFilter`."""
    # Cached on the request, because each filter of the list needs it.
    known: dict[object, Mapping[str, Sequence[str | None]]] = request.__dict__.setdefault(
        "_distinct_values", {}
    )
    if model_admin not in known:
        asked: Any = model_admin.get_list_filter(request)
        names = [
            one[0] for one in asked if isinstance(one, tuple) and issubclass(one[1], LabelFilter)
        ]
        rows = model_admin.get_queryset(request).order_by()
        if getattr(model_admin, "has_indexed_labels", False):
            known[model_admin] = distinct_values(rows, names)
        else:
            found = [*rows.values_list(*names).distinct()]
            known[model_admin] = {
                name: sorted({row[at] for row in found}, key=lambda one: (one is None, one or ""))
                for at, name in enumerate(names)
            }
    return known[model_admin]


class LanguageFilter(LabelFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("Language")

    def label(self, value: str) -> str:
        return language_name(value)
