"""Columns and filters of lists that say what is stored as a code in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from django.contrib import admin
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.outbox import find_kind


class InALanguage(Protocol):
    """A row that says which language it is in."""

    locale: str


@admin.display(description=gettext_lazy("Language"), ordering="locale")
def language(row: InALanguage) -> str:
    """The column for the language of a row."""
    return language_name(row.locale)


def kind_label(name: str) -> str:
    """Return what a kind of event is called; its name where there is none of that name any more."""
    kind = find_kind(name)
    return in_words(kind.label) if kind else name


def badge(look: str, text: str) -> SafeString:
    """Return `text` as a badge in one of the colours of `static/cms/design/components.css`."""
    return format_html('<span class="badge badge-{}">{}</span>', look, text)


def switch_badge(is_on: bool) -> SafeString:
    return badge("succeeded", _("On")) if is_on else badge("archived", _("Off"))


class LabelFilter(AllValuesFieldListFilter):
    """The values that rows have, said by `label`."""

    def label(self, value: str) -> str:
        raise NotImplementedError

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        for number, choice in enumerate(super().choices(changelist)):
            # The first is the one for all of them, in words already.
            words = choice["display"]
            if number:
                value, opens, count = str(words or ""), "", ""
                if changelist.add_facets:
                    value, opens, count = value.rpartition(" (")
                words = f"{self.label(value)}{opens}{count}"
            yield {**choice, "display": words}


class LanguageFilter(LabelFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("Language")

    def label(self, value: str) -> str:
        return language_name(value)
