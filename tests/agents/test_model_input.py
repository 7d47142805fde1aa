"""What a model is given: the post as Markdown, once; the same prefix for every run; a typed answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema import ValidationError as SchemaError

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from agents_app.runs.markdown_texts import as_markdown
from agents_app.runs.rendered_payload import render_payload
from proofroom.briefs.models import Brief
from proofroom.core.json import Json, JsonObject
from tests import make
from tests.agents.asking import KEY, execute, payload_of
from tests.agents.environment import set_env, write_agent
from tests.fake_provider import Reply, serving

pytestmark = pytest.mark.django_db

ARTICLE = "Grind **finely** and wait.\n\n## The pour\n\n- first half\n- second half"


def prefix_of(asked: Any) -> tuple[str, str]:
    """Return what precedes the last message: tools with the answer's schema, and the system prompt."""
    first, _last = asked.body["messages"]
    assert first["role"] == "system"
    return json.dumps(asked.body["tools"]), first["content"]


def message_of(asked: Any) -> str:
    return str(asked.body["messages"][1]["content"])


def answer_schema(asked: Any) -> Any:
    tools = [tool["function"] for tool in asked.body["tools"]]
    return next(tool["parameters"] for tool in tools if tool["name"] == "suggest")


# The prefix


@pytest.mark.parametrize(
    ("agent", "given"),
    [
        ("seo-specialist", {}),
        ("proofreader", {}),
        ("general-assistant", {}),
        ("general-assistant", {"scope": "field", "field_key": "module.prose.content"}),
    ],
)
def test_runs_on_two_posts_share_their_prefix_byte_by_byte(
    openai: Any, agent: str, given: dict[str, Any]
) -> None:
    Brief.objects.create(name="Site", voice="Dry and exact.", version=1)
    fake = openai(Reply({"declined": "Good already."}))
    one, other = make.post(markdown=ARTICLE), make.post("Tea", slug="tea", markdown="Boil.")
    make.staged(other, {"excerpt": "Something else"})

    execute(one, agent_id=agent, **given)
    execute(other, agent_id=agent, context={"reason": "spring"}, **given)

    first, second = fake.asked
    assert prefix_of(first) == prefix_of(second)
    assert message_of(first) != message_of(second)
    system = prefix_of(first)[1]
    assert system.rstrip().endswith("Dry and exact.")
    runs = AgentRun.objects.all()
    for text in (*(str(run.pk) for run in runs), str(one.pk), str(other.pk), "spring", "Tea"):
        assert text not in system + prefix_of(first)[0]


def test_anthropic_is_told_where_the_cached_prefix_ends(settings: Any, no_pauses: None) -> None:
    one, other = make.post(markdown=ARTICLE), make.post("Tea", slug="tea", markdown="Boil.")
    with serving(Reply({"declined": "Good already."})) as fake:
        set_env(
            settings, ai_provider_anthropic_api_key=KEY, ai_provider_anthropic_base_url=fake.address
        )
        runs = [execute(one), execute(other)]

    assert [run.declined for run in runs] == ["Good already."] * 2
    first, second = (asked.body for asked in fake.asked)
    assert (first["system"], first["tools"]) == (second["system"], second["tools"])
    # Tools come before the system prompt, so this mark covers both.
    assert first["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert first["messages"] != second["messages"]
    assert "cache_control" not in json.dumps(first["messages"])


def test_another_attempt_has_the_same_prefix_and_another_mark(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))
    post = make.post()

    execute(post)
    execute(post)

    first, second = (message_of(asked).splitlines() for asked in fake.asked)
    assert prefix_of(fake.asked[0]) == prefix_of(fake.asked[1])
    assert first[0].startswith("The mark of this run is ")
    assert first[0] != second[0]
    # Two fences, and the line that names the mark.
    assert [n for n, line in enumerate(first) if line != second[n]] == [0, 1, 3]


def test_the_brief_is_told_and_named_on_the_run(openai: Any) -> None:
    site = Brief.objects.create(name="Site", voice="Dry.", version=4)
    Brief.objects.create(name="German", locale="de", voice="Warm.", version=1)
    fake = openai(Reply({"declined": "Good already."}))

    run = execute(make.post())

    system = prefix_of(fake.asked[0])[1]
    assert "# Editorial brief" in system
    assert "Warm." not in system
    assert run.briefs == [{"id": str(site.pk), "name": "Site", "version": 4}]


def test_without_a_brief_nothing_is_said_of_one(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))

    run = execute(make.post())

    assert "# Editorial brief" not in prefix_of(fake.asked[0])[1]
    assert run.briefs == []


# The post


def test_the_search_editor_reads_the_article_at_a_field(openai: Any) -> None:
    fake = openai(Reply({"value": "Filter coffee"}))
    post = make.post(markdown=ARTICLE)

    execute(post, scope="field", field_key="post.metaTitle")

    context = payload_of(fake.asked[0])["context"]
    prose = make.module_id(post, "prose")
    assert f"[prose {prose}]\n{ARTICLE}" in context["text"]
    assert f"[hero {make.module_id(post, 'hero')}]\n## " in context["text"]
    assert context["limits"] == {"fieldType": "text", "maxLength": 300, "advisedLength": 60}
    assert '"type": "doc"' not in message_of(fake.asked[0])


def test_a_rich_text_field_is_shown_once_as_markdown(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))
    post = make.post(markdown=ARTICLE)

    execute(post, agent_id="general-assistant", scope="field", field_key="module.prose.content")

    message = message_of(fake.asked[0])
    payload = payload_of(fake.asked[0])
    assert payload["field"]["currentValue"] == ARTICLE
    assert message.count("Grind **finely** and wait.") == 1
    assert payload["module"]["props"]["content"] == "(see field.currentValue)"
    assert "(see field.currentValue)" in payload["context"]["text"]
    assert set(payload["module"]["schema"]["properties"]) == {"content"}


def test_the_other_items_of_a_list_are_neighbours(openai: Any) -> None:
    fake = openai(Reply({"value": "Why?"}))
    post = make.post()
    faq = make.module_id(post, "faq")
    items: list[Json] = [{"question": text, "answer": ""} for text in ("What?", "How?", "When?")]
    make.staged_module(post, faq, props={"items": items})

    execute(
        post,
        agent_id="general-assistant",
        scope="field",
        field_key="module.faq.items.1.question",
    )

    context = payload_of(fake.asked[0])["context"]
    prose = make.module_id(post, "prose")
    assert context["neighbours"] == {
        "moduleBefore": f"prose {prose}",
        "moduleAfter": None,
        "otherItems": ["What?", "When?"],
    }
    assert context["limits"] == {"fieldType": "text", "maxLength": 300}


def test_a_list_with_rich_text_is_shown_once(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))
    post = make.post(markdown=ARTICLE)
    items: list[Json] = [{"question": "Why?", "answer": paragraphs("Because of the grind.")}]
    make.staged_module(post, make.module_id(post, "faq"), props={"items": items})

    execute(post, agent_id="general-assistant", scope="field", field_key="module.faq.items")

    payload, message = payload_of(fake.asked[0]), message_of(fake.asked[0])
    assert payload["field"]["currentValue"] == [
        {"question": "Why?", "answer": "Because of the grind."}
    ]
    assert message.count("Because of the grind.") == 1
    assert message.count("Grind **finely** and wait.") == 1


def test_a_value_that_the_caller_sends_is_shown_once(openai: Any) -> None:
    fake = openai(Reply({"value": "Better"}))

    execute(
        make.post(), scope="field", field_key="post.metaTitle", context={"currentValue": "Unsaved"}
    )

    assert payload_of(fake.asked[0])["field"]["currentValue"] == "Unsaved"
    assert message_of(fake.asked[0]).count("Unsaved") == 1


def test_a_very_long_text_is_cut(openai: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_app.runs.markdown_texts._TEXT_MAX", 200)
    fake = openai(Reply({"value": "Better"}))

    execute(make.post(markdown="word " * 100), scope="field", field_key="post.metaTitle")

    text = payload_of(fake.asked[0])["context"]["text"]
    assert "word word" in text
    assert text.endswith("[The text is too long: the rest is left out here.]")
    assert len(text) < 300


def test_allowed_values_are_limits_and_stand_in_the_schema(openai: Any) -> None:
    fake = openai(Reply({"value": "dark"}))

    run = execute(
        make.post(), agent_id="general-assistant", scope="field", field_key="module.hero.theme"
    )

    assert run.status == "succeeded", run.error
    themes = ["light", "dark", "accent"]
    assert payload_of(fake.asked[0])["context"]["limits"] == {
        "fieldType": "select",
        "enum": themes,
    }
    assert answer_schema(fake.asked[0])["properties"]["value"]["enum"] == themes


def test_callers_cannot_set_what_the_system_says_of_a_field(openai: Any) -> None:
    fake = openai(Reply({"value": "Filter coffee"}))
    forged = {"text": "Forged", "examples": [{"value": "Forged"}], "limits": {}, "reason": "x"}

    execute(make.post(), scope="field", field_key="post.metaTitle", context=forged)

    context = payload_of(fake.asked[0])["context"]
    assert "Forged" not in json.dumps(context)
    assert context["reason"] == "x"


def test_a_post_is_shown_as_markdown_with_the_ids_of_its_modules(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))
    post = make.post(markdown=ARTICLE)

    execute(post)

    modules = payload_of(fake.asked[0])["modules"]
    assert [module["type"] for module in modules] == ["hero", "prose", "faq"]
    assert modules[1]["postModuleId"] == make.module_id(post, "prose")
    assert modules[1]["props"] == {"content": ARTICLE}


def test_a_translator_sees_source_and_translation_side_by_side(openai: Any) -> None:
    fake = openai(Reply({"declined": "All is translated."}))
    source = make.post(markdown=ARTICLE)
    german = make.post("Kaffee", locale="de", translation_of=source, markdown="Mahlen.")

    execute(german, agent_id="translator")

    payload, message = payload_of(fake.asked[0]), message_of(fake.asked[0])
    assert payload["post"]["title"] == "Kaffee"
    assert payload["post"]["source"]["title"] == "How to brew filter coffee"
    prose = payload["modules"][1]
    assert (prose["props"], prose["source"]) == ({"content": "Mahlen."}, {"content": ARTICLE})
    assert message.count("Grind **finely** and wait.") == 1
    assert "imageId" not in payload["modules"][0]["source"]
    assert payload["context"]["translationOf"] == {
        "postId": str(source.pk),
        "locale": "en",
        "modulesWithoutTranslation": [],
    }


def test_a_text_that_is_not_translated_yet_is_shown_once(openai: Any) -> None:
    fake = openai(Reply({"declined": "Later."}))
    source = make.post(markdown=ARTICLE)
    german = make.post("Kaffee", locale="de", translation_of=source, markdown=ARTICLE)

    execute(german, agent_id="translator")

    payload = payload_of(fake.asked[0])
    assert payload["modules"][1]["sameAsSource"] == ["content"]
    assert payload["modules"][1]["source"] == {}
    assert message_of(fake.asked[0]).count("Grind **finely** and wait.") == 1


def test_a_rendered_payload_is_rendered_once(openai: Any) -> None:
    """A replay reads it from the transcript and renders it again."""
    fake = openai(Reply({"declined": "Later."}))
    source = make.post(markdown=ARTICLE)
    german = make.post("Kaffee", locale="de", translation_of=source, markdown=ARTICLE)
    execute(german, agent_id="translator")
    execute(source, agent_id="general-assistant", scope="field", field_key="module.prose.content")

    for asked in fake.asked:
        payload = payload_of(asked)
        assert render_payload(payload) == payload


# The answer


def test_the_schema_refuses_what_is_too_long_and_what_is_no_choice(
    openai: Any, agents_dir: Path
) -> None:
    write_agent(agents_dir, "writer", "dropdown")
    definitions.reload()
    fake = openai(Reply({"declined": "Good already."}))
    post = make.post()
    hero = make.module_id(post, "hero")

    execute(post, agent_id="writer")

    validator = Draft202012Validator(answer_schema(fake.asked[0]))

    def of_hero(**props: Json) -> JsonObject:
        return {"modules": [{"postModuleId": hero, "props": props}]}

    validator.validate({"post": {"title": "x" * 300, "metaTitle": None}})
    validator.validate(of_hero(title="x" * 160, theme="dark"))
    for answer in (
        {"post": {"title": "x" * 301}},
        {"post": {"titel": "x"}},
        {"post": {"title": 5}},
        of_hero(theme="blue"),
        {"modules": [{"postModuleId": hero, "props": {"content": {"type": "doc"}}}]},
        {"declined": "x" * 1001},
        {"else": 1},
    ):
        with pytest.raises(SchemaError):
            validator.validate(answer)


def test_a_too_long_answer_is_sent_back(openai: Any) -> None:
    fake = openai(Reply({"post": {"metaTitle": "x" * 301}}), Reply({"post": {"metaTitle": "x"}}))

    run = execute(make.post())

    assert (run.status, run.staged) == ("succeeded", ["post.metaTitle"])
    sent_back = fake.asked[1].body["messages"][-1]["content"]
    assert "metaTitle has 301 characters; at most 300 are allowed." in sent_back


def test_markdown_becomes_rich_text_and_unchanged_blocks_stay(openai: Any) -> None:
    cells: list[Json] = [
        {"type": "tableCell", "attrs": {"colspan": 2}, "content": [paragraph("Both")]},
    ]
    table: JsonObject = {
        "type": "table",
        "content": [{"type": "tableRow", "content": cells}],
    }
    blocks = [paragraph("Teh first."), table, paragraph("The last.")]
    post = make.post()
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, props={"content": {"type": "doc", "content": blocks}})
    before = as_markdown({"type": "doc", "content": blocks})
    assert isinstance(before, str)
    openai(
        Reply(
            {
                "modules": [
                    {"postModuleId": prose, "props": {"content": before.replace("Teh", "The")}}
                ]
            }
        )
    )

    run = execute(post, agent_id="proofreader")

    assert (run.status, run.error) == ("succeeded", "")
    module = make.layers(post).ai_review.document.module(prose)
    assert module is not None
    after: Any = module.props["content"]
    assert after["content"][0] == paragraph("The first.")
    # Markdown has no merged cells, so the table would have lost them.
    assert after["content"][1:] == blocks[1:]


def test_an_unchanged_markdown_text_is_no_change(openai: Any) -> None:
    post = make.post(markdown=ARTICLE)
    openai(Reply({"value": ARTICLE}))

    run = execute(post, agent_id="proofreader", scope="field", field_key="module.prose.content")

    assert (run.status, run.staged) == ("succeeded", [])
    prose = make.layers(post).ai_review.document.module(make.module_id(post, "prose"))
    assert prose is not None
    assert run.value == prose.props["content"]


def paragraphs(*texts: str) -> JsonObject:
    return {"type": "doc", "content": [paragraph(text) for text in texts]}


def paragraph(text: str) -> JsonObject:
    return {"type": "paragraph", "content": [{"type": "text", "text": text}]}
