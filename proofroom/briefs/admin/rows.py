"""The lists of a brief as form rows: parsed, added and removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _

from proofroom.briefs.brief_fields import (
    EXAMPLES_MAX,
    NAMES_MAX,
    NEVER_MAX,
    TERMS_MAX,
)
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject

ROWS: Final[Mapping[str, int]] = {
    "terms": TERMS_MAX,
    "protectedNames": NAMES_MAX,
    "never": NEVER_MAX,
    "examples": EXAMPLES_MAX,
}
"""The largest number of rows of each list, by its name in the API."""
_TERM_TEXTS: Final = ("term", "preferred", "note")
_EXAMPLE_TEXTS: Final = ("before", "after")
TEMPLATE_KEY: Final = "new-row"
"""The key of the empty row that scripts copy."""


@dataclass(frozen=True, slots=True)
class TranslationInput:
    """The input for a term's translation into a language."""

    locale: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class BriefRow:
    """A row of a list on the page. `key` is part of the names of its inputs."""

    key: str
    value: Json
    errors: Sequence[str] = ()
    is_new: bool = False

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else ""

    @property
    def summary(self) -> str:
        """The translations and the note of a term, while their inputs are folded."""
        term = self.value if isinstance(self.value, Mapping) else {}
        texts = [f"{one.locale} “{one.text}”" for one in self.translations if one.text]
        return " · ".join([*texts, *([str(term["note"])] if term.get("note") else [])])

    @property
    def translations(self) -> list[TranslationInput]:
        """Inputs for the languages of the site, and for others that the term has a translation in."""
        term = self.value if isinstance(self.value, Mapping) else {}
        stored = term.get("translations")
        texts = stored if isinstance(stored, Mapping) else {}
        locales = dict.fromkeys([*settings.CMS_ENV.locales, *sorted(texts)])
        return [
            TranslationInput(locale, language_name(locale), str(texts.get(locale, "")))
            for locale in locales
        ]


@dataclass(frozen=True, slots=True)
class RowList:
    """A list of a brief on the page. `empty` is the row that scripts copy."""

    name: str
    rows: Sequence[BriefRow]
    most: int
    errors: Sequence[str] = ()
    empty: BriefRow = field(default_factory=lambda: BriefRow(TEMPLATE_KEY, "", is_new=True))


def read_rows(data: QueryDict, name: str) -> list[Json]:
    """Return the values of a list as the API takes them, without rows in which nothing was entered."""
    # One more than allowed, so that too many rows are refused, not cut.
    keys = data.getlist(f"{name}-row")[: ROWS[name] + 1]
    return [value for key in keys if (value := _read_row(data, name, key))]


def _read_row(data: QueryDict, name: str, key: str) -> Json:
    """Return the value of a row; an empty one if nothing was entered."""

    def text(part: str) -> str:
        return str(data.get(f"{name}-{part}-{key}", "")).strip()

    if name == "examples":
        example: JsonObject = {part: text(part) for part in _EXAMPLE_TEXTS}
        return example if any(example.values()) else None
    if name != "terms":
        return text("text")
    term: JsonObject = {part: value for part in _TERM_TEXTS if (value := text(part))}
    prefix, suffix = f"{name}-translation-", f"-{key}"
    translations = {
        field.removeprefix(prefix).removesuffix(suffix): translation
        for field in data
        if field.startswith(prefix)
        and field.endswith(suffix)
        and (translation := str(data[field]).strip())
    }
    if translations:
        term["translations"] = translations
    if data.get(f"{name}-forbidden-{key}"):
        term["forbidden"] = True
    # A row without a term but with other values is refused at its term.
    return {"term": "", **term} if term else None


def apply_button(values: Mapping[str, list[Json]], do: str) -> tuple[dict[str, list[Json]], str]:
    """Return the values after the pressed button (`add:terms`, `remove:terms:2`), and a message about it."""
    action, _colon, rest = do.partition(":")
    name, _colon, key = rest.partition(":")
    found = {each: list(rows) for each, rows in values.items()}
    if name not in ROWS:
        return found, ""
    if action == "add" and len(found[name]) < ROWS[name]:
        return found, _("Row added at the end.")
    if action == "remove" and key.isascii() and key.isdigit() and int(key) < len(found[name]):
        del found[name][int(key)]
        return found, _("Row removed.")
    return found, ""


def row_lists(
    values: Mapping[str, Sequence[Json]], errors: Mapping[str, Sequence[str]], added: str = ""
) -> dict[str, RowList]:
    """Return the lists of the page with the errors of their rows. `added` is the list that gets an empty row."""
    return {
        name: RowList(
            name,
            [
                *(
                    BriefRow(str(place), value, list(_errors_of(errors, f"{name}.{place}")))
                    for place, value in enumerate(values.get(name, ()))
                ),
                *([BriefRow(f"added-{name}", "", is_new=True)] if name == added else ()),
            ],
            most,
            errors.get(name, ()),
        )
        for name, most in ROWS.items()
    }


def _errors_of(errors: Mapping[str, Sequence[str]], path: str) -> Iterator[str]:
    labels = {
        "term": _("Term"),
        "preferred": _("Use instead"),
        "note": _("Note"),
        "translations": _("Translations"),
        "before": _("Before"),
        "after": _("After"),
    }
    for key, texts in errors.items():
        if key != path and not key.startswith(f"{path}."):
            continue
        label = labels.get(key.removeprefix(path).removeprefix(".").partition(".")[0], "")
        for text in texts:
            yield _("%(label)s: %(text)s") % {"label": label, "text": text} if label else text
