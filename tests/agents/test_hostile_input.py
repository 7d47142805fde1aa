"""Input refused at the start of a run: it could not be stored, or names nothing."""

from __future__ import annotations

from typing import Any

import pytest

from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from agents_app.runs.field_target import find_field
from proofroom.core.errors import RuleViolation
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
FIELD: dict[str, Any] = {"scope": "field", "field_key": "post.title"}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"context": {"a": ["\x00"]}}, "context.a.0"),
        ({"context": {"a": {"\x00": 1}}}, "context.a"),
        ({"context": {"a": float("nan")}}, "context.a"),
        ({"context": {"a": 10**400}}, "context.a"),
        ({"context": {"a": 1e308}}, "context.a"),
        ({"open_ended_context": "a\x00"}, "openEndedContext"),
        ({"open_ended_context": "\ud800"}, "openEndedContext"),
        ({**FIELD, "post_module_id": "z" * 500}, "postModuleId"),
        ({"post_module_id": "\x00"}, "postModuleId"),
        ({**FIELD, "field_key": "module.hero.title." + "9" * 400}, "fieldKey"),
        ({**FIELD, "field_key": "module.hero.title.\x00"}, "fieldKey"),
    ],
    ids=ascii,
)
def test_it_is_refused_by_its_name(given: dict[str, Any], path: str) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as caught:
        create_run(
            **{
                "agent_id": "general-assistant",
                "scope": "dropdown",
                "actor": make.actor("editor"),
                "post_id": post.pk,
                **given,
            }
        )

    assert list(caught.value.details) == [path]
    assert AgentRun.objects.count() == 0


def test_the_rest_door_answers_422_on_the_path() -> None:
    url = f"/api/posts/{make.post().pk}/agents/general-assistant/run"
    api = ApiClient("editor")

    answer = api.write("POST", url, {"context": {"a": "\x00"}}, expect=422)
    assert list(answer["details"]) == ["context.a"]
    body = {"scope": "field", "fieldKey": "post.title", "postModuleId": "no-uuid"}
    assert list(api.write("POST", url, body, expect=422)["details"]) == ["postModuleId"]


def test_a_module_is_found_by_its_id_in_any_spelling() -> None:
    post = make.post()
    module = make.module_id(post, "hero")

    run = create_run(
        agent_id="general-assistant",
        scope="field",
        actor=make.actor("editor"),
        post_id=post.pk,
        field_key="module.hero.title",
        post_module_id=module.upper().replace("-", ""),
    )

    assert run.post_module_id == module


@pytest.mark.parametrize("place", ["²", "9" * 5000, "٣", "99999"])
def test_a_place_in_a_list_is_a_short_number_in_ascii(place: str) -> None:
    document = make.layers(make.post()).live

    target = find_field(document, f"module.faq.items.{place}")

    assert target.value(document) is None
    with pytest.raises(RuleViolation, match="has no part"):
        target.edit("x")(document)
