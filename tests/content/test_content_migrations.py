"""Content migrations: stored modules follow a change of their definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from django.core.management import CommandError
from django.db import migrations
from django.db.migrations.writer import MigrationWriter

from content.document.document import PostDocument
from content.inbox.rows import needs_rebuild
from content.layers.reject import reject
from content.migration_operations import (
    ChangeCustomFields,
    ChangeModule,
    Convert,
    Drop,
    Rename,
    SetDefault,
    Split,
    Step,
)
from content.migration_operations.derived_data import follow_content_migrations
from content.models import (
    ContentMigration,
    Draft,
    Layer,
    ModuleGroup,
    ModuleInstance,
    Post,
    Provenance,
    QueuedChange,
    RejectedChange,
    Revision,
)
from content.modules.global_modules import create_global
from content.posts.edit import edit_post
from content.store import document_edits
from content.store.post_repository import load
from content.store.search import find_posts
from content.store.translation_status import states_of
from content.translations.translate import create_translation
from proofroom.core.caching.content_version import content_version
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.shared_content.models import SharedRevision
from tests import make
from tests.content.migrating import carry_over, take_back

pytestmark = pytest.mark.django_db


def hero_of(document: Any) -> JsonObject:
    """Return the props of the hero of a stored document."""
    [module] = [one for one in document["modules"] if one["type"] == "hero"]
    return cast(JsonObject, module["props"])


def shout(value: Json) -> str:
    return str(value).upper()


def in_words(value: Json) -> dict[str, Json]:
    time, _, unit = str(value).partition(" ")
    return {"time": time, "unit": unit}


def as_range(value: Json) -> dict[str, Json]:
    low, high = str(value).split("-")
    return {"low": low, "high": high}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            Split("subtitle", ("low", "high"), as_range),
            "Split('subtitle') cannot take '': ValueError: not enough values to unpack",
        ),
        (
            Split("subtitle", ("time", "unit"), lambda value: {}),
            "Split('subtitle') cannot take '': ValueError: subtitle was split into , not time, unit",
        ),
        (
            Convert("subtitle", lambda value: 1 / 0),
            "Convert('subtitle') cannot take '': ZeroDivisionError",
        ),
    ],
)
def test_a_failing_function_is_reported_with_the_post_and_the_value(step: Step, words: str) -> None:
    post = make.post("Garden room")

    with pytest.raises(CommandError) as refused:
        carry_over(ChangeModule("hero", step))

    assert str(refused.value).startswith(f"modules, 'Garden room' ({post.pk}): {words}")


def test_a_function_failing_on_a_revision_is_reported_with_its_version() -> None:
    post = make.post("Garden room")
    [module] = [one.id for one in load(post).modules if one.type == "hero"]
    make.changed_module(post, module, props={"subtitle": "1-2"}, by=make.actor("admin"))

    with pytest.raises(CommandError) as refused:
        carry_over(ChangeModule("hero", Split("subtitle", ("low", "high"), as_range)))

    assert str(refused.value).startswith(f"revisions, 'Garden room' ({post.pk}), version 1: Split")


RENAME = ChangeModule("hero", Rename("subtitle", "intro"))


def with_hero(**props: Json) -> Callable[[PostDocument], PostDocument]:
    def edit(document: PostDocument) -> PostDocument:
        [id_] = [module.id for module in document.modules if module.type == "hero"]
        return document_edits.update_module(document, id_, props=props)

    return edit


def with_subtitle(words: str) -> Callable[[PostDocument], PostDocument]:
    return with_hero(subtitle=words)


def coffee() -> Post:
    """Create a post whose hero contains "Ten minutes.", where an agent proposes "Five minutes."."""
    post = make.post("Filter coffee")
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=with_subtitle("Ten minutes."))
    make.staged(post, edit=with_subtitle("Five minutes."))
    return post


def test_live_content_drafts_and_revisions_have_the_new_name() -> None:
    post = coffee()
    hero = make.module_id(post, "hero")
    carry_over(RENAME)

    assert ModuleInstance.objects.get(type="hero").props["intro"] == "Ten minutes."
    draft = Draft.objects.get(post=post, layer=Layer.AI_REVIEW)
    assert hero_of(draft.document)["intro"] == "Five minutes."
    assert hero_of(draft.base)["intro"] == "Ten minutes."
    assert list(draft.marks) == [f"modules.{hero}.props.intro"]
    revisions = list(Revision.objects.filter(post=post))
    assert [hero_of(revision.document)["intro"] for revision in revisions] == ["Ten minutes.", ""]
    assert "subtitle" not in str([revision.document for revision in revisions])
    assert revisions[0].changed_paths == [f"modules.{hero}.props.intro"]
    live = make.layers(post).live
    assert live.to_json() == revisions[0].document


def test_the_proposal_still_waits_and_knows_its_author() -> None:
    post = coffee()
    hero = make.module_id(post, "hero")
    carry_over(RENAME)
    assert follow_content_migrations() == 1

    view = make.layers(post).ai_review
    assert view.changes.paths == (f"modules.{hero}.props.intro",)
    assert not view.drifted
    [mark] = view.marks.values()
    assert mark.agent_id == "seo-specialist"
    [row] = QueuedChange.objects.filter(post=post)
    assert row.path == f"modules.{hero}.props.intro"
    assert Provenance.objects.filter(post=post, path=f"modules.{hero}.props.intro").exists()
    assert not Provenance.objects.filter(path__contains="subtitle").exists()


def test_a_translation_is_as_up_to_date_as_it_was() -> None:
    post = coffee()
    current = create_translation(post_id=post.pk, locale="de", actor=make.actor("admin"))
    carry_over(ChangeModule("hero", Convert("subtitle", shout), Rename("title", "headline")))
    assert not list(states_of([current])[current.pk].stale_paths)

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=with_subtitle("New"))
    [stale] = states_of([current])[current.pk].stale_paths
    carry_over(RENAME)
    [renamed] = states_of([current])[current.pk].stale_paths
    assert renamed == stale.replace("subtitle", "intro")


def test_a_default_is_no_news_for_translations() -> None:
    post, person = coffee(), make.post("Anna", type="profile", customFields={"role": "Roaster"})
    admin = make.actor("admin")
    copies = [
        create_translation(post_id=one.pk, locale="de", actor=admin) for one in (post, person)
    ]
    carry_over(ChangeModule("hero", SetDefault("size", "large"), Rename("size", "width")))
    carry_over(ChangeCustomFields("profile", SetDefault("team", "Berlin")))
    states = states_of(copies)
    assert [list(states[copy.pk].stale_paths) for copy in copies] == [[], []]


def test_a_value_that_takes_the_name_of_another_keeps_its_author() -> None:
    post = make.post()
    title = f"modules.{make.module_id(post, 'hero')}.props.title"
    edit_post(post_id=post.pk, actor=make.actor("editor"), edit=with_hero(subtitle="Editor"))
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=with_hero(title="Admin"))
    make.staged(post, edit=with_hero(subtitle="Staged by the editor"), layer=Layer.REVIEW)
    make.staged(
        post, edit=with_hero(title="By the admin"), layer=Layer.REVIEW, by=make.actor("admin")
    )
    carry_over(ChangeModule("hero", Rename("subtitle", "title")))

    rows = Provenance.objects.filter(post=post, path=title)
    assert [row.author_name for row in rows] == ["editor"]
    review = make.layers(post).review
    assert hero_of(review.document.to_json())["title"] == "Staged by the editor"
    assert review.marks[title].user == "editor"
    # A second run finds and changes nothing.
    carry_over(ChangeModule("hero", Rename("subtitle", "title")))
    assert rows.count() == 1


def test_a_dropped_values_author_is_not_inherited() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    edit_post(post_id=post.pk, actor=make.actor("editor"), edit=with_hero(subtitle="Editor"))
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=with_hero(title="Admin"))
    carry_over(ChangeModule("hero", Drop("title"), Rename("subtitle", "title")))
    rows = Provenance.objects.filter(post=post, path=f"modules.{hero}.props.title")
    assert [row.author_name for row in rows] == ["editor"]


def test_an_override_that_a_post_lacks_replaces_nothing() -> None:
    post = make.post()
    place = make.placed(post, make.global_module())
    make.changed_module(post, place, overrides={"title": "For cyclists"}, by=make.actor("admin"))
    carry_over(ChangeModule("callout", Rename("tone", "title")))
    module = make.layers(post).live.module(place)
    assert module is not None
    assert module.overrides == {"title": "For cyclists"}
    assert Provenance.objects.filter(post=post, path=f"modules.{place}.overrides.title").exists()


def test_a_split_value_is_in_both_and_both_know_their_author() -> None:
    post = coffee()
    hero = make.module_id(post, "hero")
    carry_over(ChangeModule("hero", Split("subtitle", ("time", "unit"), in_words)))

    props = ModuleInstance.objects.get(type="hero").props
    assert (props["time"], props["unit"]) == ("Ten", "minutes.")
    draft = Draft.objects.get(post=post, layer=Layer.AI_REVIEW)
    assert set(draft.marks) == {f"modules.{hero}.props.time", f"modules.{hero}.props.unit"}
    for name in ("time", "unit"):
        assert Provenance.objects.filter(post=post, path=f"modules.{hero}.props.{name}").exists()


def test_overrides_follow_and_get_no_default() -> None:
    post = make.post()
    place = make.placed(post, make.global_module(), title="For cyclists")
    carry_over(ChangeModule("callout", Rename("title", "heading"), SetDefault("frame", "calm")))
    module = make.layers(post).live.module(place)
    assert module is not None
    assert module.overrides == {"heading": "For cyclists"}
    shared = ModuleInstance.objects.get(type="callout")
    assert (shared.props["heading"], shared.props["frame"]) == ("Subscribe", "calm")


def test_versions_of_global_modules_and_module_groups_follow() -> None:
    actor = make.actor("admin")
    module = create_global(actor=actor, slug="news", type="callout", props={"title": "Subscribe"})
    group = ModuleGroup.objects.create(
        name="short", label="Short", post_type="blog",
        modules=[{"type": "callout", "scope": "local", "locked": False, "props": {"title": "A"}}],
    )  # fmt: skip
    carry_over(ChangeModule("callout", Rename("title", "heading"), becomes="notice"))
    revision = SharedRevision.objects.get(row_id=module.pk)
    assert revision.document["props"]["heading"] == "Subscribe"
    group.refresh_from_db()
    assert group.modules[0]["type"] == "notice"
    assert group.modules[0]["props"]["heading"] == "A"


def test_a_value_may_be_converted_in_place() -> None:
    post = make.post(markdown="Hello")

    def add_ending(document: Any) -> Any:
        document["content"].append({"type": "paragraph"})
        return document

    carry_over(ChangeModule("prose", Convert("content", add_ending)))
    props: Any = ModuleInstance.objects.get(type="prose").props
    assert props["content"]["content"][-1] == {"type": "paragraph"}
    assert make.layers(post).live.to_json() == Revision.objects.latest("version").document


def test_a_number_that_becomes_true_is_a_change() -> None:
    make.post()
    carry_over(ChangeModule("hero", SetDefault("big", 1)))
    carry_over(ChangeModule("hero", Convert("big", bool)))
    assert ModuleInstance.objects.get(type="hero").props["big"] is True


def test_a_module_takes_another_type_in_every_layer() -> None:
    post = coffee()
    carry_over(ChangeModule("hero", Drop("theme"), becomes="opening"))
    layers = make.layers(post)
    for document in (layers.live, layers.review.document, layers.ai_review.document):
        assert document.modules[0].type == "opening"
    assert "theme" not in layers.live.modules[0].props
    assert len(layers.ai_review.changes) == 1


def test_a_rejected_change_can_still_be_taken_back() -> None:
    post = coffee()
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"))
    carry_over(ChangeModule("hero", Convert("subtitle", shout), Rename("subtitle", "intro")))
    [rejected] = RejectedChange.objects.all()
    assert rejected.path.endswith(".props.intro")
    assert rejected.proposal is not None
    assert rejected.proposal["after"] == {"is": "plain", "value": "FIVE MINUTES."}


SWAP = (Rename("title", "other"), Rename("subtitle", "title"), Rename("other", "subtitle"))


@pytest.mark.parametrize(
    ("steps", "proposed"),
    [
        ((Drop("title"), Rename("subtitle", "title")), {"title": "New subtitle"}),
        ((Rename("subtitle", "title"),), {"title": "New subtitle"}),
        (SWAP, {"title": "New subtitle", "subtitle": "New title"}),
        ((Drop("title"),), {"subtitle": "New subtitle"}),
    ],
)
def test_rejected_changes_of_one_rejection_follow(
    steps: tuple[Step, ...], proposed: dict[str, str]
) -> None:
    post = make.post()
    make.staged(post, edit=with_hero(title="New title", subtitle="New subtitle"))
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"))
    carry_over(ChangeModule("hero", *steps))
    found = {
        row.path.rpartition(".")[2]: row.proposal and row.proposal["after"]["value"]
        for row in RejectedChange.objects.all()
    }
    assert found == proposed


@pytest.mark.parametrize("step", [Drop("subtitle"), Convert("subtitle", lambda value: "Same")])
def test_a_draft_that_holds_nothing_any_more_is_empty(step: Step) -> None:
    post = coffee()
    carry_over(ChangeModule("hero", step))
    follow_content_migrations()
    assert not Draft.objects.filter(is_empty=False).exists()
    assert not QueuedChange.objects.exists()
    assert not needs_rebuild()
    assert not make.layers(post).ai_review.exists


def test_a_rejected_module_follows_where_the_post_has_no_other() -> None:
    post = make.post()
    props: JsonObject = {"title": "Subscribe"}
    make.staged_addition(post, type="callout", props=props)
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"))
    carry_over(ChangeModule("callout", Rename("title", "heading")))
    [rejected] = RejectedChange.objects.all()
    assert rejected.proposal is not None
    module = rejected.proposal["after"]["value"]
    assert module["props"]["heading"] == "Subscribe"
    assert "title" not in module["props"]


def test_custom_fields_of_posts_follow() -> None:
    person = make.post("Anna", type="profile", customFields={"role": "Roaster"})
    make.staged(person, {"customFields": {"role": "Head roaster"}})
    carry_over(ChangeCustomFields("profile", Rename("role", "job")))
    person.refresh_from_db()
    assert person.custom_fields["job"] == "Roaster"
    view = make.layers(person).ai_review
    assert view.changes.paths == ("post.customFields.job",)
    assert list(view.marks) == ["post.customFields.job"]


def test_reversed_it_is_as_it_was() -> None:
    post = coffee()
    before = make.layers(post).ai_review.document.to_json()
    operation = ChangeModule(
        "hero", Rename("subtitle", "intro"), Convert("intro", shout, str.capitalize)
    )
    carry_over(operation)
    assert operation.reversible
    take_back(operation)
    assert make.layers(post).ai_review.document.to_json() == before


@pytest.mark.parametrize(
    "operation",
    [
        ChangeModule("hero", Drop("theme")),
        ChangeModule("hero", SetDefault("subtitle", "A value that people may have written too")),
        ChangeModule("hero", Split("subtitle", ("time", "unit"), in_words)),
        ChangeModule("hero", Convert("subtitle", shout)),
        ChangeModule("hero", becomes="opening"),
    ],
)
def test_what_loses_something_cannot_be_reversed(operation: ChangeModule) -> None:
    assert not operation.reversible


def test_search_pages_and_the_log_follow_once() -> None:
    post = coffee()
    version = content_version()
    carry_over(ChangeModule("hero", Convert("subtitle", lambda value: "Percolator")))
    assert follow_content_migrations() == 1
    assert follow_content_migrations() == 0
    assert [found.pk for found in find_posts(Post.objects.all(), "percolator")[:10]] == [post.pk]
    assert content_version() > version
    assert Event.objects.get(name="content.migrated").payload["type"] == "hero"


def test_nothing_stored_leaves_nothing_to_follow() -> None:
    assert carry_over(ChangeModule("no-such-module", Drop("theme"))) == {}
    assert not ContentMigration.objects.exists()


def test_django_writes_the_operations_as_squashing_does() -> None:
    migration = migrations.Migration("0001_squashed", "shop")
    migration.operations = [  # type: ignore[misc]  # Django does so, too
        ChangeModule("hero", Convert("subtitle", in_words, shout), becomes="opening"),
        ChangeModule(
            "hero", Split("subtitle", ("time", "unit"), in_words), Rename("time", "hours")
        ),
        ChangeCustomFields("profile", SetDefault("role", {"en": "Roaster"}), Drop("job")),
    ]
    names: dict[str, Any] = {}
    exec(MigrationWriter(migration).as_string(), names)  # noqa: S102  # our own migration
    written = names["Migration"].operations
    assert [one.deconstruct() for one in written] == [
        one.deconstruct() for one in migration.operations
    ]
