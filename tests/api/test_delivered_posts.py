"""The delivery API's posts rendered by the database equal the ones rendered from models."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final, cast
from uuid import uuid4

import orjson
import pytest
from django.conf import settings
from django.utils import timezone

from content import presenters
from content.api.delivery.posts import WHOLE
from content.api.delivery.rendered_posts import render_post, render_post_at
from content.models import Layer, ModuleInstance, Post, PostModule
from content.posts.variations import create_variation
from content.store import post_queries
from content.store.arms import with_place_of_original
from content.store.media_usage import media_of, rebuild_references
from content.store.traffic import change_variation
from media.models import Asset
from proofroom.core.api.body import dumps
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_tags import tag_of_path
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import PageLocation, home_path, paths_above
from proofroom.definitions import modules
from proofroom.definitions.listings import term_list_path
from proofroom.taxonomies.models import Term
from tests import make
from tests.api.wire_modules import wire_module
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
HOSTILE: Final = "\"quoted\" 'twice' \\ / \x01\t\n\u2028 %s %% {0} é 漢 🦆 </script>"
ODD_PROPS: Final[JsonObject] = {
    "text": HOSTILE,
    HOSTILE: [],
    "numbers": [0, -1, 1.5, 0.1, 1e-9, 9_007_199_254_740_993, 12345678901234567890],
    "nested": {"a": [{"b": [None, True, False, "", {}]}]},
    "null": None,
}


def as_models_say(post: Post, shown: Post | None = None, arms: list[Post] | None = None) -> Any:
    """Return the post rendered from models, with one query per part; `shown` is the displayed variation."""
    original, post = post, with_place_of_original(shown, post) if shown is not None else post
    shared = {
        (post.pk, place.instance_id) for place in post.placements.filter(instance__scope="global")
    }
    wire = {name: value for name, value in presenters.post_fields(post).items() if name in WHOLE}
    of_group = post_queries.translations_of(original, only_published=True)
    paths = dict(Post.objects.values_list("pk", "path"))
    above = [
        path for path in paths_above(PageLocation(original.path, original.locale)) if path != "/"
    ]
    found = post_queries.published_posts().filter(path__in=above)
    wire |= {
        "authors": [],  # they have no name for readers; `tests/content/test_authors.py` has others
        "terms": [
            {
                "id": term.pk,
                "taxonomy": term.taxonomy,
                "slug": term.slug,
                "name": term.name,
                "url": term_list_path(post.type, post.locale, term.taxonomy, term.slug, term.locale)
                or None,
            }
            for term in Term.objects.filter(post_terms__post=post).order_by(
                "taxonomy", "order_index", "name"
            )
        ],
        "ancestors": [
            {"title": one.title, "url": one.path}
            for one in sorted(found, key=lambda one: len(one.path))
        ],
        "modules": modules_as_models_say(post),
        "media": media_of({post.pk: post.locale}, shared)[post.pk],
        "taxonomyTermIds": post_queries.term_ids(post.pk),
        "translations": [{**row, "url": paths[row["id"]]} for row in of_group],
    }
    if arms:
        wire["variations"] = [
            {"id": arm.pk, "variation": arm.variation, "weight": arm.variation_weight}
            for arm in sorted(arms, key=lambda arm: arm.variation)
        ]
    if shown is not None:
        wire |= {"variationOf": original.pk, "variation": shown.variation}
    return orjson.loads(dumps(wire))


def modules_as_models_say(post: Post) -> list[JsonObject]:
    placements = post.placements.select_related("instance").order_by("order_index", "id")
    found = [wire_module(place) for place in placements]
    for module in found:
        definition = modules.get(str(module["type"]))
        if definition is not None:
            # Fields that a stored module lacks have their defaults.
            module["props"] = {**definition.default_props(), **cast("JsonObject", module["props"])}
    return found


def rendered(post: Post, fields: set[str] | None = None, variation: str = "") -> Any:
    """Return the answer; a whole one without the head, which `tests/site/test_delivered_heads.py` compares."""
    found = render_post(post.pk, fields, variation)
    assert found is not None
    answer = json.loads(found.body)
    if fields is None:
        del answer["seo"]
    return answer


def again(post: Post) -> Post:
    found = post_queries.find_post_with_author(post.pk)
    assert found is not None
    return found


def place(post: Post, index: int, type_: str, props: JsonObject, **values: Any) -> None:
    """Store a module directly, as it may be in the database."""
    scope = values.pop("scope", "local")
    slug = f"shared-{index}" if scope == "global" else None
    instance = ModuleInstance.objects.create(type=type_, scope=scope, global_slug=slug, props=props)
    PostModule.objects.create(post=post, instance=instance, order_index=index, **values)


def test_every_module_type_with_every_kind_of_value() -> None:
    post = make.post("Everything")
    PostModule.objects.filter(post=post).delete()
    for index, name in enumerate(modules.names()):
        definition = modules.all()[name]
        place(post, 3 * index + 1, name, definition.default_props())
        place(post, 3 * index, name, ODD_PROPS, locked=True, overrides={"title": HOSTILE})
        place(post, 3 * index + 2, name, {}, scope="global", overrides={"items": [{}]})
    place(post, 1, "gone-long-ago", {"kept": HOSTILE}, scope="static")

    found = rendered(post)

    assert found == as_models_say(again(post))
    assert len(found["modules"]) == 3 * len(modules.names()) + 1
    assert [item["orderIndex"] for item in found["modules"]] == sorted(
        item["orderIndex"] for item in found["modules"]
    )


def test_every_field_of_a_post_with_its_terms_translations_and_parents() -> None:
    parent = make.post("Parent", type="page", slug="parent")
    post = make.post(
        "Child",
        type="page",
        slug="child",
        parentId=str(parent.pk),
        excerpt=HOSTILE.replace("\x01", ""),
    )
    german = make.post(locale="de", translation_of=post, type="page", slug="kind")
    draft = make.post("Draft", type="page", slug="enfant", status="draft")
    Post.objects.filter(pk=draft.pk).update(locale="fr", translation_group=post.translation_group)
    make.post("Other")
    terms = [make.term(name) for name in ("Coffee", "Tea", "Water")]
    post.post_terms.create(term=terms[2])
    post.post_terms.create(term=terms[0])
    Post.objects.filter(pk=post.pk).update(
        title=HOSTILE, robots_json={"index": False}, jsonld_overrides={"@type": HOSTILE},
        custom_fields=ODD_PROPS, meta_title="", canonical_url="https://example.com/ä?a=1&b=2",
        order_index=-3, created_at=datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        updated_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        published_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    )  # fmt: skip

    found = rendered(post)

    assert found == as_models_say(again(post))
    assert found["createdAt"] == "1999-12-31T23:59:59.999Z"
    assert found["translations"] == [{"id": str(german.pk), "locale": "de", "url": "/de/kind"}]
    assert found["ancestors"] == [{"title": "Parent", "url": "/parent"}]
    assert [term["name"] for term in found["terms"]] == ["Coffee", "Water"]
    assert rendered(german) == as_models_say(again(german))
    assert rendered(parent) == as_models_say(again(parent))


def test_files_in_fields_and_modules_including_removed_ones() -> None:
    plain, cropped, shared, lost = (make.image(f"{name}.png") for name in "abcd")
    Asset.objects.filter(pk=plain.pk).update(status="processing", width=None, height=None)
    Asset.objects.filter(pk=cropped.pk).update(
        status="ready", focal_x=1 / 3, focal_y=0.1, alt_text=HOSTILE,
        alt_texts={"de": "Auf Deutsch", "fr": ""}, variants={"large": "a.webp", "other": "b.webp"},
        dark_variants={"small": "d.webp"}, mime="image/webp",
    )  # fmt: skip
    Asset.objects.filter(pk=shared.pk).update(is_decorative=True, alt_text="Unsaid", focal_x=0)
    post = make.post(featuredMediaId=str(plain.pk))
    german = make.post(locale="de", translation_of=post, slug="bild")
    letter = make.global_module()
    for of in (post, german):
        make.placed(of, letter)
        place(of, 90, "hero", {"imageId": str(cropped.pk)})
        place(of, 91, "hero", {"imageId": str(lost.pk)})
    ModuleInstance.objects.filter(pk=letter.pk).update(
        type="hero", props={"imageId": str(shared.pk)}
    )
    make.staged(post, {"featuredMediaId": str(lost.pk)}, layer=Layer.REVIEW)
    rebuild_references()
    lost_id = str(lost.pk)
    lost.delete()

    found = rendered(post)

    assert found == as_models_say(again(post))
    assert set(found["media"]) == {str(asset.pk) for asset in (plain, cropped, shared)}
    assert lost_id not in found["media"]
    assert found["media"][str(cropped.pk)]["focalPoint"] == {"x": 1 / 3, "y": 0.1}
    assert rendered(german) == as_models_say(again(german))
    assert rendered(german)["media"][str(cropped.pk)]["alt"] == "Auf Deutsch"


def test_a_variation_in_the_place_of_its_original() -> None:
    parent = make.post("Parent", type="page", slug="parent")
    post = make.post(
        type="page", slug="child", parentId=str(parent.pk), canonicalUrl="https://example.com/x"
    )
    make.post(locale="de", translation_of=post, type="page", slug="kind")
    made = []
    for name in ("b", "C", "a_1"):
        arm = create_variation(post_id=post.pk, variation=name, actor=make.actor(), weight=10)
        arm = make.edited(arm, {"title": f"Title {name}", "excerpt": HOSTILE.replace("\x01", "")})
        made.append(
            change_variation(post_id=post.pk, variation_id=arm.pk, actor=make.actor(), running=True)
        )
    make.placed(made[0], make.global_module())

    assert rendered(post) == as_models_say(again(post), arms=made)
    for arm in made:
        found = rendered(post, variation=arm.variation)
        assert found == as_models_say(again(post), again(arm), made)
        assert found["id"] == str(arm.pk)
    assert rendered(post, variation="none") == rendered(post)


def test_sparse_fields_equal_the_whole_answers() -> None:
    post = make.post(featuredMediaId=str(make.image().pk))
    whole = rendered(post)

    for name in WHOLE - {"embeds", "variations", "variationOf", "variation", "disclosure", "seo"}:
        assert rendered(post, {name}) == {name: whole[name]}
    assert rendered(post, {"variations", "variation"}) == {}
    assert rendered(post, {"title", "variation", "media"}) == {
        "title": whole["title"], "media": whole["media"],
    }  # fmt: skip


def test_a_post_by_its_path_is_the_post_by_its_id() -> None:
    post = make.post(slug="coffee")

    found, by_path = render_post(post.pk), render_post_at(post.path)

    assert found is not None
    assert found == by_path
    assert render_post_at("/nowhere") is None
    assert render_post(uuid4()) is None


def test_threat_09_nothing_that_is_not_live_is_rendered() -> None:
    canary = "zeppelin"
    post = make.post("Kettle")
    make.staged(post, {"title": canary, "excerpt": canary})
    make.staged(post, {"metaTitle": canary, "slug": canary}, layer=Layer.REVIEW)
    idle = create_variation(post_id=post.pk, variation="B", actor=make.actor(), weight=10)
    make.edited(idle, {"title": canary})
    make.post(canary, locale="de", translation_of=post, slug="entwurf", status="draft")
    draft = make.post(canary, slug="draft", status="draft")
    placeholder = make.post(canary, slug="placeholder")
    Post.objects.filter(pk=placeholder.pk).update(is_placeholder=True)
    archived = make.post(canary, slug="archived")
    ApiClient("editor").write("PUT", f"/api/posts/{archived.pk}", {"status": "archived"})
    trashed = make.post(canary, slug="trashed")
    ApiClient("editor").write("DELETE", f"/api/posts/{trashed.pk}")

    for variation in ("", "A", "B"):
        found = render_post(post.pk, None, variation)
        assert found is not None
        assert canary.encode() not in found.body
    for one in (draft, placeholder, archived, trashed, idle):
        assert render_post(one.pk) is None
        assert render_post_at(one.path if one is not idle else "/blog/zeppelin") is None


def test_a_head_that_is_asked_for_alone_is_that_of_the_whole_answer() -> None:
    post = make.post(featuredMediaId=str(make.image().pk), excerpt="Short")
    whole, alone = render_post(post.pk), rendered(post, {"seo"})

    assert whole is not None
    assert alone == {"seo": json.loads(whole.body)["seo"]}


def test_a_whole_post_costs_two_statements_and_a_variation_one_more() -> None:
    post = make.post(featuredMediaId=str(make.image().pk))
    make.placed(post, make.global_module())
    make.post(locale="de", translation_of=post, slug="kaffee")
    client = ApiClient()

    def cost(query: str = "") -> int:
        answers.clear()
        return count_queries(client.read, f"/api/public/posts/{post.pk}{query}")

    rendered(post)
    # The version of the content, the post, and for its head and ancestors the posts above its page.
    assert (cost(), cost("?fields=id,media,modules,terms,translations")) == (3, 2)
    assert (cost("?fields=seo"), cost("?fields=ancestors")) == (3, 3)
    arm = create_variation(post_id=post.pk, variation="B", actor=make.actor(), weight=10)
    change_variation(post_id=post.pk, variation_id=arm.pk, actor=make.actor(), running=True)
    assert (cost(), cost("?variation=B")) == (3, 4)


def test_an_answer_names_what_it_depends_on() -> None:
    image = make.image()
    post = make.post(featuredMediaId=str(image.pk))

    found = render_post(post.pk)

    assert found is not None
    assert found.depends_on == {
        f"post:{post.pk.hex}", f"group:{post.translation_group.hex}", f"media:{image.pk.hex}",
        # A page that appears above it, and a home page, whose title names the site.
        *map(tag_of_path, ("/blog", *map(home_path, settings.CMS_ENV.locales))),
    }  # fmt: skip


def test_of_several_posts_above_visitors_get_the_first() -> None:
    first = make.post("First", slug="about", type="page")
    child = make.post("Child", slug="team", type="page", parentId=str(first.pk))
    make.copies(
        first, 1,
        title=lambda number: "Second",
        translation_group=lambda number: uuid4(),
        published_at=lambda number: timezone.now(),
        slug=lambda number: "second",
    )  # fmt: skip

    found = ApiClient().read(f"/api/public/posts/{child.pk}?fields=ancestors")

    at_path = ApiClient().read("/api/public/resolve?path=/about")["post"]["title"]
    assert [above["title"] for above in found["ancestors"]] == [at_path] == ["First"]
