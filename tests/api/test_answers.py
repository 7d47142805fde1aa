"""Answer classes: rendering, description, and the bodies that accept them."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import uuid4

import orjson
import pytest
from pydantic import Field, ValidationError

from proofroom.core.api.answer import Answer, TextOrNull, list_of, one_of
from proofroom.core.api.body import Body, dumps
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.errors import validate_input


class KettleAnswer(Answer):
    """A kettle."""

    id: int = Field(validation_alias="pk")
    state: Literal["cold", "hot"]
    place: Annotated[str, one_of(["kitchen", "garden"])]
    litres: int = Field(ge=1, le=5)
    short_name: TextOrNull


class NewKettle(Body, answered_by=KettleAnswer):
    short_name: str = Field(min_length=2)
    litres: int = 1


class KettleChanges(NewKettle, answered_by=KettleAnswer, partial=True):
    pass


def row(**values: Any) -> Any:
    known = {"pk": 7, "state": "hot", "place": "garden", "litres": 2, "short_name": ""}
    return SimpleNamespace(**{**known, **values})


def rendered(answer: Answer) -> Any:
    return orjson.loads(dumps({"data": [answer]}))["data"][0]


def test_a_row_is_rendered_by_the_names_of_the_wire() -> None:
    assert rendered(KettleAnswer.of(row())) == {
        "id": 7, "state": "hot", "place": "garden", "litres": 2, "shortName": None,
    }  # fmt: skip


def test_values_stand_in_place_of_attributes() -> None:
    assert KettleAnswer.of(row(), litres=3).litres == 3


def test_what_was_stored_under_other_rules_is_answered() -> None:
    found = rendered(KettleAnswer.of(row(state="lost", place="roof", litres=90)))

    assert (found["state"], found["place"], found["litres"]) == ("lost", "roof", 90)


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(ValidationError):
        KettleAnswer.of(row(litres="a lot"))


def test_limits_are_described_all_the_same() -> None:
    fields = KettleAnswer.model_json_schema(mode="serialization")["properties"]

    assert fields["state"]["enum"] == ["cold", "hot"]
    assert fields["place"]["enum"] == ["kitchen", "garden"]
    assert (fields["litres"]["minimum"], fields["litres"]["maximum"]) == (1, 5)


def test_a_body_ignores_what_only_its_answer_has() -> None:
    body = validate_input({"id": 1, "state": "hot", "shortName": "Old", "litres": 2}, NewKettle)

    assert (body.short_name, body.litres) == ("Old", 2)


def test_a_body_refuses_what_neither_has() -> None:
    with pytest.raises(RuleViolation) as refused:
        validate_input({"id": 1, "shortName": "Old", "colour": "red"}, NewKettle)

    assert list(refused.value.details) == ["colour"]


def test_changes_need_no_key_and_keep_the_limits() -> None:
    assert validate_input({}, KettleChanges).model_dump(exclude_unset=True) == {}
    with pytest.raises(RuleViolation) as refused:
        validate_input({"shortName": "x"}, KettleChanges)

    assert list(refused.value.details) == ["shortName"]


def test_a_list_is_the_same_class_for_the_same_arguments() -> None:
    assert list_of(KettleAnswer, "Kettles.") is list_of(KettleAnswer, "Kettles.")
    assert list_of(KettleAnswer).__name__ == "KettleListAnswer"


def test_moments_and_ids_are_rendered_as_everywhere() -> None:
    id_ = uuid4()

    found = orjson.loads(dumps({"id": id_, "at": datetime(2030, 1, 2, 3, 4, 5, 678900, UTC)}))

    assert found == {"id": str(id_), "at": "2030-01-02T03:04:05.678Z"}
