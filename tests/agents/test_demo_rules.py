"""The demo's rules that use tools, mark translations, follow instructions and give other candidates."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from agents_app.models import AgentRun
from agents_app.providers.demo.conversation import answer
from agents_app.providers.interface import ToolAnswer, Toolbox, ToolSpec
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from content.translations.translate import create_translation
from proofroom.core.json import JsonObject
from proofroom.definitions import modules
from proofroom.definitions.richtext.nodes import to_text
from tests import make
from tests.agents.test_demo import GOOD, TITLE
from tests.conftest import RunOnCommit


def document(*blocks: str) -> JsonObject:
    paragraphs: list[JsonObject] = [
        {"type": "paragraph", "content": [{"type": "text", "text": text}]} for text in blocks
    ]
    return {"type": "doc", "content": paragraphs}


def said(agent_id: str, payload: Any, tools: Any = None) -> dict[str, Any]:
    return cast("dict[str, Any]", answer(agent_id, payload, tools))


SOURCE: dict[str, Any] = {
    "post": {"title": TITLE, "excerpt": "One recipe.", "metaTitle": "Coffee"},
    "modules": [
        {
            "type": "faq",
            "props": {
                "heading": "What you need",
                "items": [{"question": "Why?", "answer": document("Because.", "It is so.")}],
            },
        }
    ],
}


def test_a_translation_is_marked_where_it_still_is_the_source_and_keeps_its_shape() -> None:
    items = SOURCE["modules"][0]["props"]["items"]
    payload = {
        "post": {"locale": "de", "title": TITLE, "excerpt": "Ein Rezept.", "metaTitle": "Coffee"},
        "modules": [
            {
                "postModuleId": "m",
                "type": "faq",
                "props": {"heading": "What you need", "items": items},
            }
        ],
        "context": {"translationOf": SOURCE},
    }

    proposed = said("translator", payload)

    assert proposed["post"] == {"title": f"[de] {TITLE}", "metaTitle": "[de] Coffee"}
    assert proposed["modules"] == [
        {
            "postModuleId": "m",
            "props": {
                "heading": "Was Sie brauchen",
                "items": [
                    {"question": "[de] Why?", "answer": document("[de] Because.", "[de] It is so.")}
                ],
            },
        }
    ]
    assert "Marked the texts of 3 places with [de]." in proposed["summary"]
    marked = {**payload, "post": {**payload["post"], **proposed["post"]}, "modules": []}  # type: ignore[dict-item]
    assert said("translator", marked)["post"] == {}


def test_what_is_no_translation_stays_as_it_is() -> None:
    proposed = said("translator", {"post": {"locale": "en", "title": TITLE}, "modules": []})

    assert set(proposed) == {"summary"}
    assert "no translation" in proposed["summary"]


@pytest.mark.parametrize(
    ("wish", "patch"),
    [
        ("Please shorten the excerpt", {"excerpt": "One recipe, a scale and four minutes. How to…"}),
        ("Make the introduction one sentence: shorten", {"excerpt": "One recipe, a scale and four minutes."}),
        ("shorten the excerpt to one sentence", {"excerpt": "One recipe, a scale and four minutes."}),
        ("Title in uppercase", {"title": TITLE.upper()}),
        ("search title lower case", {"metaTitle": GOOD["metaTitle"].lower()}),
        ('replace "coffee" with "tea"', {
            "title": "How to brew filter tea",
            "metaTitle": "Filter tea by hand, step by step",
            "metaDescription": GOOD["metaDescription"].replace("coffee", "tea"),
        }),
        ("Write a poem", {}),
    ],
)  # fmt: skip
def test_a_few_wishes_are_fulfilled_by_rule(wish: str, patch: dict[str, str]) -> None:
    payload = {
        "post": {"title": TITLE, **GOOD},
        "modules": [],
        "context": {"openEndedContext": wish},
    }

    proposed = said("general-assistant", payload)

    assert proposed["post"] == patch
    assert ("The demo understands" in proposed["summary"]) is not bool(patch)


def field(key: str, current: Any, module: Any = None, **context: Any) -> dict[str, Any]:
    payload = {
        "scope": "field",
        "field": {"key": key, "currentValue": current},
        "draftBase": {"title": TITLE, "excerpt": GOOD["excerpt"]},
        "module": module,
        "context": context,
    }
    return said("general-assistant", payload)


def test_each_try_of_a_field_is_another_candidate() -> None:
    tries: list[dict[str, Any]] = []
    for _ in range(4):
        tries.append(field("post.metaTitle", "Coffee", previousCandidates=tries))

    values = [str(one["value"]) for one in tries]
    assert values[0] == TITLE
    assert len(set(values)) == 4
    shorter = field(
        "post.metaTitle", "Coffee", previousCandidates=[{"value": TITLE, "note": "too long"}]
    )
    assert shorter["value"] == "How to brew…"


@pytest.mark.parametrize(
    ("prop", "current", "value"),
    [
        ("title", "Two  blanks", "Two blanks"),
        ("subtitle", "", TITLE),
        ("theme", "dark", "dark"),
        ("ctaUrl", "/a", "/a"),
        ("imageId", None, None),
    ],
)
def test_a_value_fits_the_type_of_its_field(prop: str, current: Any, value: Any) -> None:
    module = {"type": "hero", "schema": modules.get("hero").props_schema()}

    assert field(f"module.hero.{prop}", current, module)["value"] == value


def test_rich_text_keeps_its_links_and_code() -> None:
    link = {
        "type": "text",
        "text": "a  link",
        "marks": [{"type": "link", "attrs": {"href": "/a  b"}}],
    }
    code = {"type": "codeBlock", "content": [{"type": "text", "text": "a  b"}]}
    current = {"type": "doc", "content": [{"type": "paragraph", "content": [link]}, code]}

    value = field("module.prose.content", current)["value"]

    assert value["content"][0]["content"] == [{**link, "text": "a link"}]
    assert value["content"][1] == code


class Tools(Toolbox):
    """A toolbox of two tools that records its calls."""

    def __init__(
        self, *found: dict[str, str], names: tuple[str, ...] = ("search_media", "generate_image")
    ) -> None:
        self.found = found
        self.names = names
        self.calls: list[tuple[str, JsonObject]] = []

    def specs(self) -> list[ToolSpec]:
        return [ToolSpec(name, "", {}) for name in self.names]

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        self.calls.append((name, arguments))
        if name == "generate_image":
            return ToolAnswer(json.dumps({"mediaId": "made"}), ok=True)
        return ToolAnswer(json.dumps({"items": list(self.found)}), ok=True)


def picture(id_: str) -> dict[str, str]:
    return {"id": id_, "mime": "image/png", "altText": f"Picture {id_}"}


def test_a_picture_is_looked_for_and_another_one_where_it_was_not_good_enough() -> None:
    tools = Tools({**picture("paper"), "mime": "application/pdf"}, picture("one"), picture("two"))
    payload = {"scope": "field", "field": {"key": "post.featuredMediaId", "currentValue": None},
               "draftBase": {"title": TITLE}, "context": {}}  # fmt: skip
    again = {**payload, "context": {"previousCandidates": [{"value": "one"}, {"value": "two"}]}}

    assert said("illustrator", payload, tools)["value"] == "one"
    assert said("illustrator", again, tools)["value"] == "made"
    assert [name for name, _ in tools.calls] == ["search_media"] * 4 + ["generate_image"]
    assert tools.calls[-1][1] == {"prompt": TITLE, "altText": TITLE}


def test_without_tools_there_is_no_picture_and_it_is_said() -> None:
    payload = {"post": {"title": TITLE}, "modules": [], "context": {}}

    proposed = said("illustrator", payload, Tools(names=()))

    assert (proposed["post"], proposed["summary"]) == (
        {},
        "Demo (no AI) found no picture and could make none.",
    )


@pytest.mark.django_db
def test_from_anywhere_it_tells_what_its_tools_tell() -> None:
    make.post()
    run = create_run(
        agent_id="general-assistant",
        scope="global",
        actor=make.actor("admin"),
        open_ended_context="What is new?",
    )

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert run.status == "succeeded"
    assert run.summary.startswith(
        f"Demo (no AI): this site has 1 post; the latest: “{TITLE}”. A model would answer “What is new?”."
    )
    assert [(step.kind, step.name) for step in run.steps.all()] == [
        ("model", "Demo (no AI)"),
        ("tool", "list_posts"),
    ]


@pytest.mark.django_db
def test_a_translation_that_is_made_is_taken_up_by_the_translator(
    run_on_commit: RunOnCommit,
) -> None:
    """The event, the agent's scope, the source in its payload and the answer, until AI Review."""
    source = make.post(excerpt="One recipe.")
    with run_on_commit():
        german = create_translation(post_id=source.pk, locale="de", actor=make.actor("editor"))

    run = AgentRun.objects.get(agent_id="translator")
    view = make.layers(german).ai_review
    assert (run.status, run.error, run.scope) == ("succeeded", "", "post.create-translation")
    assert view.document.fields["title"] == f"[de] {TITLE}"
    assert view.document.fields["excerpt"] == "[de] One recipe."
    prose = next(module for module in view.document.modules if module.type == "prose")
    assert to_text(prose.props["content"]).split("\n\n") == [
        "[de] Grind the beans.",
        "[de] Pour the water.",
    ]
