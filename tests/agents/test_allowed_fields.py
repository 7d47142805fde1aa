"""`allowedFields` of scope entries, enforced in answers, in tools and for AI clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import agents_for, all_agents, get_agent
from agents_app.providers.selection import choose_provider
from agents_app.replay.answers import ReplaySpending, ask, read_replay_input
from agents_app.runs.allowed_fields import AllowedFields, fields_of_run
from agents_app.runs.creation import create_run
from agents_app.tools import RunFieldAgent, run_field_agent
from content.models import Draft, Post
from mcp_bridge.access.principals import Principal
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from tests import make
from tests.agents.asking import execute
from tests.agents.environment import set_env
from tests.agents.tooling import working
from tests.definition_checks import definition_errors
from tests.fake_provider import Call, Reply
from tests.mcp.calling import by, done, refused

pytestmark = pytest.mark.django_db
HOSTILE = {
    "slug": "casino",
    "robotsJson": {"index": False},
    "canonicalUrl": "https://evil.example/",
    "jsonldOverrides": {"@type": "Product"},
}


def agent(folder: Path, id_: str, *entries: str, extra: str = "") -> None:
    """Write an agent with these scope entries."""
    lines = "".join(f"  - {{{entry}}}\n" for entry in entries)
    path = folder / f"{id_}.md"
    path.write_text(f"---\nname: {id_}\nscopes:\n{lines}{extra}---\nYou are {{{{agent}}}}.\n")
    definitions.reload()


def limited(folder: Path, id_: str, *paths: str, extra: str = "") -> None:
    """Create an agent of the dropdown with these allowed fields and its own account."""
    agent(folder, id_, f"scope: dropdown, allowedFields: [{', '.join(paths)}]", extra=extra)
    make.agent_actor(id_)


def staged(post: Post) -> set[str]:
    return set(make.layers(post).ai_review.changes.paths)


def output_schema(asked: Any) -> Any:
    """Return the schema of the answer sent to the model."""
    tools = [tool["function"] for tool in asked.body["tools"]]
    return next(tool["parameters"] for tool in tools if tool["name"] == "suggest")


def edits_in(schema: Any) -> dict[str, Any]:
    """Return the properties of an edit by type of module."""
    edits = [edit["properties"] for edit in schema["properties"]["modules"]["items"]["anyOf"]]
    return {edit["postModuleId"]["description"].split()[-1].rstrip("."): edit for edit in edits}


# Definitions


@pytest.mark.parametrize(
    "path",
    [
        "post.title", "post.*", "post.taxonomyTermIds", "post.customFields.company",
        "post.customFields.*", "module.hero.title", "module.hero.*", "module.*", "modules.*",
    ],
)  # fmt: skip
def test_paths_that_may_be_named(agents_dir: Path, path: str) -> None:
    limited(agents_dir, "writer", path)

    assert definition_errors() == []


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("post.metatitle", "post.metaTitle"),
        ("module.hero.titel", "module.hero.title"),
        ("modules.hero.title", "module.hero.title"),
        ("module.heros.*", "module.hero.*"),
        ("hero.title", "module.hero.title"),
    ],
)
def test_an_unknown_path_is_an_error_that_names_the_nearest(
    agents_dir: Path, path: str, near: str
) -> None:
    limited(agents_dir, "writer", "post.title", path)

    found = definition_errors()

    assert len(found) == 1
    assert "writer.md: scopes.0.allowedFields" in found[0]
    assert f"{path!r} is not a field that agents may propose" in found[0]
    assert f"did you mean {near!r}?" in found[0]


def test_an_empty_list_is_refused(agents_dir: Path) -> None:
    agent(agents_dir, "writer", "scope: dropdown, allowedFields: []")

    assert get_agent("writer") is None
    assert len(definition_errors()) == 1
    assert "scopes.0.allowedFields" in definition_errors()[0]


def test_the_shipped_agents_stage_neither_robots_nor_canonical_nor_structured_data() -> None:
    technical = {"post.robotsJson", "post.canonicalUrl", "post.jsonldOverrides"}
    for found in all_agents():
        for entry in found.scopes:
            allowed = AllowedFields(found, (entry,), is_run=True)
            assert not allowed.is_unlimited, found.id
            if entry.scope != "global":
                assert [field for field in sorted(technical) if allowed.allows(field)] == []
            if found.id != "general-assistant" and entry.scope != "post.create-translation":
                assert not allowed.allows("post.slug")


# Answers of runs


def test_an_answer_outside_is_asked_for_again_then_fails_and_nothing_is_staged(
    openai: Any,
) -> None:
    post = make.post()
    before = make.live_hash()
    fake = openai(Reply({"post": {"metaTitle": "Good", **HOSTILE}, "summary": "Better."}))

    run = execute(post)

    assert len(fake.asked) == 3
    sent_back = fake.asked[1].body["messages"][-1]["content"]
    for name in HOSTILE:
        assert f"post.{name}: SEO specialist may not propose this: leave it out." in sent_back
    assert "post.metaTitle:" not in sent_back
    assert (run.status, run.staged) == ("failed", [])
    assert "refused after 3 tries" in run.error
    assert "post.slug: SEO specialist may not propose this" in run.error
    assert not Draft.objects.exists()
    assert make.live_hash() == before


def test_a_mended_answer_is_staged(openai: Any) -> None:
    post = make.post()
    openai(
        Reply({"post": {"metaTitle": "Good", "slug": "casino"}}),
        Reply({"post": {"metaTitle": "Good"}, "summary": "Mended."}),
    )

    run = execute(post)

    assert (run.status, run.staged) == ("succeeded", ["post.metaTitle"])


def test_an_answer_that_repeats_a_forbidden_value_fails(openai: Any) -> None:
    post = make.post()
    openai(Reply({"post": {"metaTitle": "Good", "slug": post.slug}}))

    assert execute(post).status == "failed"


@pytest.mark.parametrize(
    ("paths", "answer", "is_taken"),
    [
        ("module.hero.title", {"props": {"title": "New"}}, True),
        ("module.hero.*", {"props": {"subtitle": "New"}}, True),
        ("module.*", {"props": {"ctaLabel": "New"}}, True),
        ("modules.*", {"props": {"ctaLabel": "New"}}, True),
        ("module.hero.title", {"props": {"subtitle": "New"}}, False),
        ("module.faq.*, post.*", {"props": {"title": "New"}}, False),
    ],
)
def test_props_of_modules(
    agents_dir: Path, openai: Any, paths: str, answer: dict[str, Any], is_taken: bool
) -> None:
    limited(agents_dir, "writer", paths)
    post = make.post()
    openai(Reply({"module": {"postModuleId": make.module_id(post, "hero"), **answer}}))

    run = execute(post, agent_id="writer")

    assert run.status == ("succeeded" if is_taken else "failed")
    assert bool(staged(post)) is is_taken


@pytest.mark.parametrize(
    ("path", "is_taken"), [("module.prose.content", True), ("module.hero.*", False)]
)
def test_markdown_counts_as_the_prop_that_it_fills(
    agents_dir: Path, openai: Any, path: str, is_taken: bool
) -> None:
    limited(agents_dir, "writer", path)
    post = make.post()
    edit = {"postModuleId": make.module_id(post, "prose"), "contentMarkdown": "## New"}
    openai(Reply({"modules": [edit]}))

    assert execute(post, agent_id="writer").status == ("succeeded" if is_taken else "failed")


def test_the_schema_names_exactly_the_fields_with_type_and_length(openai: Any) -> None:
    post = make.post()
    fake = openai(Reply({"post": {"metaTitle": "Good"}}))

    execute(post)

    schema = output_schema(fake.asked[0])
    assert set(schema["properties"]) == {"post", "modules", "summary", "declined"}
    assert schema["properties"]["post"] == {
        "type": "object",
        "properties": {
            "excerpt": {"type": "string", "maxLength": 2000},
            "metaDescription": {"type": ["string", "null"], "maxLength": 500},
            "metaTitle": {"type": ["string", "null"], "maxLength": 300},
            "title": {"type": "string", "maxLength": 300},
        },
        "additionalProperties": False,
    }
    edits = edits_in(schema)
    # The types that the list names, also if this post has none: the schema is the same for all posts.
    assert set(edits) == {"hero", "hero-with-media", "faq"}
    assert set(edits["hero"]) == {"postModuleId", "props"}
    assert edits["hero"]["props"]["properties"]["title"]["maxLength"] == 160
    assert set(edits["hero"]["props"]["properties"]) == {"title", "subtitle"}
    assert edits["faq"]["props"]["properties"] == {"heading": {"type": "string", "maxLength": 160}}


def test_an_agent_of_post_fields_alone_has_no_modules_in_its_schema(
    agents_dir: Path, openai: Any
) -> None:
    limited(agents_dir, "writer", "post.excerpt")
    fake = openai(Reply({"post": {"excerpt": "Good"}}))

    execute(make.post(), agent_id="writer")

    schema = output_schema(fake.asked[0])
    assert set(schema["properties"]) == {"post", "summary", "declined"}
    system = fake.asked[0].body["messages"][0]["content"]
    assert "Propose values for these fields and no others" in system
    assert "post.excerpt." in system


def test_without_a_list_the_schema_has_every_field_with_its_type(
    agents_dir: Path, openai: Any
) -> None:
    agent(agents_dir, "writer", "scope: dropdown")
    fake = openai(Reply({"post": {"slug": "another"}}))

    run = execute(make.post(), agent_id="writer")

    assert run.staged == ["post.slug"]
    properties = output_schema(fake.asked[0])["properties"]
    assert properties["post"]["properties"]["slug"] == {"type": "string", "maxLength": 200}
    edits = edits_in(output_schema(fake.asked[0]))
    assert set(edits) == {"hero", "prose", "faq"}
    hero = edits["hero"]["props"]["properties"]
    assert hero["theme"] == {"type": "string", "enum": ["light", "dark", "accent"]}
    prose = edits["prose"]["props"]["properties"]
    assert prose == {"content": {"type": "string", "description": "Markdown."}}


def test_each_scope_has_its_own_list(agents_dir: Path, openai: Any) -> None:
    agent(
        agents_dir,
        "writer",
        "scope: dropdown, allowedFields: [post.excerpt]",
        "scope: posts.bulk, allowedFields: [post.slug]",
    )
    openai(Reply({"post": {"slug": "another"}}))
    admin = make.actor("admin")

    assert execute(make.post(), agent_id="writer").status == "failed"
    other = make.post("Other", slug="other")
    assert execute(other, agent_id="writer", scope="posts.bulk", actor=admin).status == "succeeded"


def test_the_demo_keeps_to_the_list(agents_dir: Path) -> None:
    agent(
        agents_dir,
        "seo-specialist",
        "scope: dropdown, allowedFields: [post.excerpt, module.hero.*]",
    )
    post = make.post()

    run = execute(post)

    hero = make.module_id(post, "hero")
    assert (run.status, set(run.staged)) == (
        "succeeded",
        {"post.excerpt", f"modules.{hero}.props.subtitle"},
    )


def test_a_replay_refuses_what_a_run_would(agents_dir: Path, openai: Any) -> None:
    limited(agents_dir, "writer", "post.excerpt")
    openai(Reply({"post": {"excerpt": "Good"}}))
    run = execute(make.post(), agent_id="writer")
    openai(Reply({"post": {"excerpt": "Good", "slug": "another"}}))
    writer, messages = get_agent("writer"), list(run.messages.order_by("pk"))
    assert writer is not None

    with pytest.raises(RuleViolation, match="may not propose this"):
        ask(
            writer,
            choose_provider(writer.llm_config, writer.id),
            run,
            read_replay_input(run, messages),
            ReplaySpending(),
        )


# Fields


def test_a_field_agent_serves_only_its_allowed_fields(agents_dir: Path) -> None:
    agent(agents_dir, "writer", "scope: field, allowedFields: [post.excerpt, module.faq.items]")

    def is_offered(key: str) -> bool:
        return "writer" in [one.id for one in agents_for("field", field_key=key)]

    assert is_offered("post.excerpt")
    assert is_offered("module.faq.items.0.question")
    assert not is_offered("post.slug")
    with pytest.raises(NotAllowed) as refusal:
        run_field_agent(
            make.mcp_actor(),
            RunFieldAgent(
                agent_id="writer",
                post_id=str(make.post().pk),
                field_key="post.slug",
                apply_to_ai_review=True,
            ),
        )
    assert refusal.value.code == "agent_not_in_scope"
    assert not Draft.objects.exists()


def test_the_schema_of_a_field_has_its_type_and_length(openai: Any) -> None:
    fake = openai(Reply({"value": "Good", "summary": "Shorter."}))

    run = execute(make.post(), scope="field", field_key="post.metaTitle")

    assert run.status == "succeeded"
    properties = output_schema(fake.asked[0])["properties"]
    assert properties["value"] == {
        "type": ["string", "null"], "maxLength": 300, "description": "The new value.",
    }  # fmt: skip
    assert set(properties) == {"value", "summary", "declined"}


def test_a_part_of_a_list_may_be_proposed_where_the_list_may(agents_dir: Path, openai: Any) -> None:
    agent(
        agents_dir, "writer", "scope: field, fieldTypes: [text], allowedFields: [module.faq.items]"
    )
    post = make.post()
    faq = make.module_id(post, "faq")
    items: list[Json] = [{"question": "What", "answer": ""}]
    make.staged_module(post, faq, props={"items": items})
    openai(Reply({"value": "Why?"}))

    run = execute(post, agent_id="writer", scope="field", field_key="module.faq.items.0.question")

    assert (run.status, run.error) == ("succeeded", "")


# Tools of runs


def test_a_tool_of_the_run_is_refused_and_the_run_goes_on(agents_dir: Path, openai: Any) -> None:
    tools = "save_post_ai_review, update_post_module_ai_review"
    limited(
        agents_dir,
        "writer",
        "post.excerpt",
        extra=f"llmConfig: {{useMCP: true, allowedMCPTools: [{tools}]}}\n",
    )
    post = make.post()
    hero = make.module_id(post, "hero")
    fake = openai(
        Reply(calls=(Call("save_post_ai_review", {"postId": str(post.pk), "patch": HOSTILE}),)),
        Reply(
            calls=(
                Call(
                    "update_post_module_ai_review", {"postModuleId": hero, "props": {"title": "x"}}
                ),
            )
        ),
        Reply(
            calls=(
                Call("save_post_ai_review", {"postId": str(post.pk), "patch": {"excerpt": "x"}}),
            )
        ),
        Reply({"summary": "Done."}),
    )

    run = execute(post, agent_id="writer")

    assert (run.status, run.staged) == ("succeeded", ["post.excerpt"])
    assert [step.summary for step in run.steps.filter(kind="tool")][:2] == [
        "refused: field_not_allowed",
        "refused: field_not_allowed",
    ]
    told = fake.asked[1].body["messages"][-1]["content"]
    assert "writer may not propose this: leave it out. It may propose: post.excerpt." in told
    assert staged(post) == {"post.excerpt"}


def test_a_run_lends_no_more_fields_than_it_has(agents_dir: Path, openai: Any) -> None:
    config = "llmConfig: {useMCP: true, allowedMCPTools: [run_agent]}\n"
    limited(agents_dir, "leader", "post.excerpt", "module.hero.*", extra=config)
    agent(agents_dir, "open", "scope: dropdown")
    limited(agents_dir, "writer", "post.*", "module.hero.title")
    post = make.post()
    leader = working("leader", post)
    for name, paths in (
        ("open", ["module.hero.*", "post.excerpt"]),
        ("writer", ["module.hero.title", "post.excerpt"]),
    ):
        begun = create_run(
            agent_id=name,
            scope="dropdown",
            post_id=post.pk,
            actor=make.agent_actor("leader", str(leader.pk)),
        )
        definition = get_agent(name)
        assert definition is not None
        allowed = fields_of_run(definition, begun)
        assert allowed.paths == paths
        assert not allowed.allows("post.slug")
        assert allowed.allows("post.excerpt")


# AI clients


def test_a_client_that_names_an_agent_is_held_to_all_its_lists(agents_dir: Path) -> None:
    agent(
        agents_dir,
        "writer",
        "scope: dropdown, allowedFields: [post.excerpt]",
        "scope: posts.bulk, allowedFields: [post.metaTitle]",
        "scope: global, enabled: false, allowedFields: [post.slug]",
        "scope: field, fieldTypes: [media], allowedFields: [post.*]",
    )
    make.agent_actor("writer")
    post = make.post()

    def save(patch: dict[str, Any]) -> dict[str, Any]:
        return {"postId": str(post.pk), "patch": patch, "agentId": "writer"}

    for patch in ({"slug": "another"}, {"excerpt": "x", "title": "y"}):
        code, text = refused("save_post_ai_review", by("editor"), **save(patch))
        assert code == "field_not_allowed"
        assert "writer may not propose this: leave it out." in text
    for patch in ({"excerpt": "x"}, {"metaTitle": "y"}, {"featuredMediaId": str(make.image().pk)}):
        done("save_post_ai_review", by("editor"), **save(patch))
    assert staged(post) == {"post.excerpt", "post.metaTitle", "post.featuredMediaId"}


def test_a_client_that_names_no_agent_is_not_held_to_a_list(settings: Any) -> None:
    """Even if the account used for it is an agent's."""
    stand_in = make.agent_actor("illustrator").user
    set_env(settings, mcp_system_user_id=stand_in.pk)
    for number, client in enumerate((by("editor"), Principal(id="token"))):
        post = make.post(f"Post {number}", slug=f"post-{number}")
        patch = {**HOSTILE, "slug": f"casino-{number}"}

        done("save_post_ai_review", client, postId=str(post.pk), patch=patch)

        assert {f"post.{name}" for name in HOSTILE} == staged(post)


def test_a_token_of_an_agents_account_is_held_to_its_lists(agents_dir: Path) -> None:
    limited(agents_dir, "writer", "post.excerpt")
    own = Principal(id="client:writer", user_id=make.agent_actor("writer").user.pk)
    post = str(make.post().pk)

    assert refused("save_post_ai_review", own, postId=post, patch=HOSTILE)[0] == "field_not_allowed"
    assert done("save_post_ai_review", own, postId=post, patch={"excerpt": "x"})["staged"]


def test_an_entry_without_a_list_allows_all(agents_dir: Path) -> None:
    agent(agents_dir, "writer", "scope: dropdown, allowedFields: [post.excerpt]", "scope: global")
    make.agent_actor("writer")
    post = make.post()

    done("save_post_ai_review", postId=str(post.pk), patch={"slug": "another"}, agentId="writer")

    assert staged(post) == {"post.slug"}


@pytest.mark.parametrize(
    ("path", "props", "is_taken"),
    [
        ("modules.*", {"title": "New"}, True),
        ("module.callout.title", {"title": "New"}, True),
        ("module.callout.title", {}, True),
        ("module.callout.title", {"title": "New", "ctaUrl": "https://evil.example"}, False),
        ("module.hero.*", {}, False),
        ("module.*", {"title": "New"}, False),
        ("post.*", {"title": "New"}, False),
    ],
)
def test_who_may_add_a_module(
    agents_dir: Path, path: str, props: dict[str, Any], is_taken: bool
) -> None:
    limited(agents_dir, "writer", path)
    given = {"postId": str(make.post().pk), "moduleType": "callout", "props": props}

    if is_taken:
        assert done("add_module_to_post_ai_review", agentId="writer", **given)["staged"]
    else:
        code, _text = refused("add_module_to_post_ai_review", agentId="writer", **given)
        assert code == "field_not_allowed"


@pytest.mark.parametrize(("path", "is_taken"), [("modules.*", True), ("module.*", False)])
def test_who_may_remove_and_move_modules(agents_dir: Path, path: str, is_taken: bool) -> None:
    limited(agents_dir, "writer", path)
    post = make.post()
    faq = make.module_id(post, "faq")
    moved = {"postModuleId": faq, "orderIndex": 1}

    if is_taken:
        assert done("update_post_module_ai_review", agentId="writer", **moved)["staged"]
        assert done("remove_post_module_ai_review", agentId="writer", postModuleId=faq)["staged"]
    else:
        for tool, given in (
            ("update_post_module_ai_review", moved),
            ("remove_post_module_ai_review", {"postModuleId": faq}),
        ):
            assert refused(tool, agentId="writer", **given)[0] == "field_not_allowed"


def test_terms_are_a_field(agents_dir: Path) -> None:
    limited(agents_dir, "writer", "post.excerpt")
    limited(agents_dir, "sorter", "post.taxonomyTermIds")
    post = make.post()
    given = {"postId": str(post.pk), "taxonomyTermIds": [str(make.term("Coffee").pk)]}
    tool = "set_post_taxonomy_terms_ai_review"

    assert refused(tool, agentId="writer", **given)[0] == "field_not_allowed"
    assert done(tool, agentId="sorter", **given)["staged"] == ["post.taxonomyTermIds"]


def test_a_new_post_is_judged_by_what_its_author_says(agents_dir: Path) -> None:
    """Slug and modules filled in by the site are not part of the proposal."""
    limited(agents_dir, "writer", "post.title", "module.hero.title")
    given = {"type": "blog", "title": "New", "agentId": "writer"}

    code, _text = refused("create_post_ai_review", slug="another", **given)
    assert code == "field_not_allowed"
    made = done(
        "create_post_ai_review",
        moduleEdits=[
            {"type": "hero", "props": {"title": "New"}},
            {"type": "hero", "props": {"subtitle": "Old"}},
        ],
        **given,
    )
    assert [edit["ok"] for edit in made["appliedModuleEdits"]] == [True, False]
    assert "may not propose" in made["appliedModuleEdits"][1]["error"]


def test_a_translation_is_judged_by_what_its_author_says() -> None:
    """Values copied from the source are not part of the proposal."""
    post = make.post(excerpt="Grind it.", canonicalUrl="https://example.org/coffee")
    given = {"postId": str(post.pk), "locale": "de", "agentId": "translator"}
    tool = "create_translation_ai_review"

    code, _text = refused(tool, fields={"robotsJson": {"index": False}}, **given)
    assert code == "field_not_allowed"
    hero = {"sourcePostModuleId": make.module_id(post, "hero"), "props": {"title": "Kaffee"}}
    assert done(tool, fields={"title": "Filterkaffee"}, modules=[hero], **given)["staged"]


def test_a_picture_is_refused_before_it_is_paid_for(agents_dir: Path) -> None:
    limited(agents_dir, "writer", "post.title")

    code, _text = refused(
        "generate_image",
        prompt="A cup",
        altText="A cup",
        postId=str(make.post().pk),
        path="post.featuredMediaId",
        agentId="writer",
    )

    assert code == "field_not_allowed"
