"""Pydantic errors are translated in one place: without pydantic's prefix, and in the user's language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest
from django.conf import settings
from django.utils import translation
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cms_project.own_packages import OWN_PACKAGES
from content.archive.documents import read_document
from proofroom.archive.container import ArchiveError
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import Id, Moment
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.errors import (
    describe_translated,
    first_fault,
    list_errors,
    reason_of,
)
from proofroom.definitions.fields import check_day
from proofroom_apps.imports.importers.json_file import JsonImporter
from tests.archive import site

HOME = Path(settings.BASE_DIR)
PLACES = {
    "proofroom/core/validation/errors.py",
    "proofroom/core/api/answer.py",
    "cms_project/env.py",
}
"""The translator; modules that only use error types; and settings, which may import nothing."""


def _refuse(value: str) -> str:
    raise ValueError("Name it otherwise.")


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, AfterValidator(_refuse)] = ""
    text: str = ""
    day: Annotated[str, AfterValidator(check_day)] = ""
    mode: Literal["a", "b"] = "a"
    values: dict[str, int] = {}
    pair: tuple[int, int] = (0, 0)
    id: Id | None = None
    at: Moment | None = None
    few: Annotated[list[int], Field(max_length=1)] = []


def fault(**values: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Shape.model_validate(values)
    return caught.value


@pytest.mark.parametrize(
    ("values", "path", "english", "german"),
    [
        ({"name": "x"}, "name", "Name it otherwise.", "Name it otherwise."),
        ({"text": 1}, "text", "This must be text.", "Das muss Text sein."),
        ({"day": "May"}, "day", "Enter a date as YYYY-MM-DD.",
         "Geben Sie ein Datum als JJJJ-MM-TT an."),
        ({"spell": 1}, "spell", "There is no field of this name.",
         "Ein Feld dieses Namens gibt es nicht."),
        ({"values": {"a": "x"}}, "values.a", "This must be a whole number.",
         "Das muss eine ganze Zahl sein."),
        ({"mode": "c"}, "mode", "This must be one of: 'a', 'b'.",
         "Das muss einer dieser Werte sein: 'a', 'b'."),
        ({"pair": 1}, "pair", "This must be a list.", "Das muss eine Liste sein."),
        ({"id": "1"}, "id", "This must be a UUID in lower case.",
         "Das muss eine UUID in Kleinbuchstaben sein."),
        ({"at": "yesterday"}, "at", "This must be a time in ISO 8601 with its zone.",
         "Das muss ein Zeitpunkt nach ISO 8601 mit seiner Zeitzone sein."),
    ],
)  # fmt: skip
def test_a_fault_is_said_in_the_language_of_the_reader(
    values: dict[str, Any], path: str, english: str, german: str
) -> None:
    for language, sentence in (("en", english), ("de", german)):
        with translation.override(language):
            found = first_fault(fault(**values), describe_translated, root="all")
        assert found == (path, sentence), language


def test_all_faults_are_said_by_path() -> None:
    error = fault(name="x", spell=1)

    assert list_errors(error, reason_of, root="") == [
        ("name", "Name it otherwise."),
        ("spell", "Extra inputs are not permitted"),
    ]
    assert len(list_errors(error, reason_of, root="", limit=1)) == 1


def test_options_of_an_import_are_refused_in_german() -> None:
    with translation.override("de"), pytest.raises(RuleViolation) as caught:
        JsonImporter().check_options({"media": 5})

    assert caught.value.details == {"media": ["media: Das muss Text sein."]}


def test_a_document_of_an_archive_is_refused_in_german() -> None:
    document = {"schemaVersion": 1, "post": 5, "taxonomyTermIds": [], "modules": []}
    with translation.override("de"), pytest.raises(RuleViolation) as caught:
        # Refused before an account is looked up.
        read_document(document, cast("ArchiveImport", None))

    assert caught.value.details == {"post": ["Das muss ein Objekt sein."]}


@pytest.mark.django_db
def test_a_row_of_an_archive_is_refused_in_german() -> None:
    site.fill()
    forged = site.with_rows(site.export(), "posts.jsonl", lambda rows: rows[0].update(id="../etc"))
    with translation.override("de"), pytest.raises(ArchiveError) as caught:
        site.bring(forged)

    assert str(caught.value) == (
        "Zeile 1 von posts ist ungültig: id: Das muss eine UUID in Kleinbuchstaben sein."
    )


def test_the_errors_of_pydantic_are_read_in_one_place() -> None:
    found = {
        path.relative_to(HOME).as_posix()
        for folder in (*OWN_PACKAGES, "cms_project")
        for path in (HOME / folder).rglob("*.py")
        if re.search(r"\.errors\(", path.read_text(encoding="utf-8"))
    }

    assert found == PLACES
