"""Permissions of translators: only the text of a translation, in every interface."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Layer, Post
from content.posts.edit import edit_post
from content.store import document_edits
from content.store.translation_rules import changes_text_only
from content.translations.translate import create_translation
from proofroom.core.errors import NotAllowed
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, Repeater, Text, props_of
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import create_feedback
from tests import make
from tests.admin.pages import fields, url
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

FORBIDDEN: dict[str, Any] = {
    "canonicalUrl": "https://elsewhere.example/",
    "robotsJson": {"index": False},
    "jsonldOverrides": {"@type": "Event"},
    "orderIndex": 7,
    "publishAt": "2099-01-01T00:00:00Z",
    "featuredMediaId": "MEDIA",
    "taxonomyTermIds": "TERM",
    "parentId": "PARENT",
}
ALLOWED = {
    "title": "Titel",
    "slug": "titel",
    "excerpt": "Auszug",
    "metaTitle": "Meta",
    "metaDescription": "Beschreibung",
}


def translation(type_: str = "page", modules: list[tuple[str, JsonObject]] | None = None) -> Post:
    """Create a German draft of a page with these modules."""
    source = make.post(type=type_)

    def fill(document: Any) -> Any:
        for name, props in modules or ():
            document, _ = document_edits.add_module(document, type=name, props=props)
        return document

    edit_post(post_id=source.pk, actor=make.actor("admin"), edit=fill)
    return create_translation(post_id=source.pk, locale="de", actor=make.actor("translator"))


def value_for(name: str) -> Any:
    value = FORBIDDEN[name]
    if value == "MEDIA":
        return str(make.image().pk)
    if value == "TERM":
        return [str(make.term("Coffee").pk)]
    return str(make.post("Eltern", type="page", locale="de").pk) if value == "PARENT" else value


@pytest.mark.parametrize("name", FORBIDDEN)
def test_rest_refuses_what_is_no_text(name: str) -> None:
    post, body = translation(), {name: value_for(name)}

    for path in (f"/api/posts/{post.pk}", f"/api/posts/{post.pk}/review"):
        refused("PUT", path, body, 403, "not_allowed", f"post.{name}", role="translator")


@pytest.mark.parametrize("name", ["canonicalUrl", "jsonldOverrides", "robotsJson"])
def test_the_editor_refuses_it_too(client: Any, name: str) -> None:
    post = translation()
    client.force_login(make.user("translator"))
    sent = fields(client.get(url(post)))
    value = FORBIDDEN[name]
    key = next((key for key in sent if key.startswith(f"post.{name}")), f"post.{name}")
    before = stored()

    for do in ("save", "save-review"):
        typed = value if isinstance(value, str) else '{"index": false, "@type": "Event"}'
        answer = client.post(url(post), {**sent, key: typed, "do": do})

        assert answer.status_code in (403, 422)
        assert name in answer.content.decode()
    assert stored() == before


def test_the_text_of_a_translation_is_theirs() -> None:
    post = translation()
    client = ApiClient("translator")

    client.write("PUT", f"/api/posts/{post.pk}", ALLOWED)
    client.write("PUT", f"/api/posts/{post.pk}/review", {"title": "Noch ein Titel"})

    post.refresh_from_db()
    assert (post.title, post.slug, post.meta_title) == ("Titel", "titel", "Meta")
    assert make.layers(post).review.changes.paths == ("post.title",)


def test_nothing_of_an_original_is_theirs() -> None:
    post = make.post(status="draft")

    refused("PUT", f"/api/posts/{post.pk}", {"title": "x"}, 403, "not_allowed", role="translator")


@pytest.mark.parametrize("name", ["email", "website"])
def test_custom_fields_that_are_no_text_are_not(name: str) -> None:
    source = make.post(type="profile", customFields={"role": "Roaster"})
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("translator"))
    value = "a@example.com" if name == "email" else "https://a.example"
    path = f"post.customFields.{name}"
    body = {"customFields": {name: value}}

    for address in (f"/api/posts/{post.pk}", f"/api/posts/{post.pk}/review"):
        refused("PUT", address, body, 403, "not_allowed", path, role="translator")
    role = {"customFields": {"role": "Röster"}}
    ApiClient("translator").write("PUT", f"/api/posts/{post.pk}", role)


HERO: JsonObject = {"title": "Kettle", "theme": "light"}
FEATURES: list[JsonObject] = [
    {"title": "Fast", "icon": "bolt"},
    {"title": "Green", "icon": "leaf"},
]


def features(*items: JsonObject) -> JsonObject:
    return {"items": list(items)}


@pytest.mark.parametrize(
    ("type_", "props", "is_allowed"),
    [
        ("hero", {"title": "Kessel"}, True),
        ("hero", {"theme": "dark"}, False),
        ("hero", {"imageId": "MEDIA"}, False),
        ("features-list", features({"title": "Schnell", "icon": "bolt"}, FEATURES[1]), True),
        ("features-list", features(FEATURES[1], FEATURES[0]), True),
        ("features-list", features(FEATURES[1]), True),
        ("features-list", features(*FEATURES, {"title": "Neu"}), True),
        ("features-list", features({"title": "Fast", "icon": "lock"}, FEATURES[1]), False),
        ("features-list", features({"title": "Fast"}, FEATURES[1]), False),
        ("features-list", features(FEATURES[0], FEATURES[0]), False),
        ("features-list", features(*FEATURES, {"title": "Neu", "icon": "lock"}), False),
    ],
    ids=str,
)
def test_props_that_are_no_text_are_not_however_deep(
    type_: str, props: JsonObject, is_allowed: bool
) -> None:
    post = translation(modules=[("hero", HERO), ("features-list", features(*FEATURES))])
    id_ = make.module_id(post, type_)
    if "imageId" in props:
        props = {"imageId": str(make.image().pk)}
    path = f"modules.{id_}.props.{next(iter(props))}"
    staged = {"modules": [{"postModuleId": id_, "props": props}]}

    if is_allowed:
        client = ApiClient("translator")
        client.write("PUT", f"/api/posts/{post.pk}/review", staged)
        client.write("PUT", f"/api/post-modules/{id_}", {"props": props})
        return
    review = f"/api/posts/{post.pk}/review"
    refused("PUT", review, staged, 403, "not_allowed", path, role="translator")
    before = stored()
    ApiClient("translator").write("PUT", f"/api/post-modules/{id_}", {"props": props}, expect=403)
    assert stored() == before


class Row(ModuleProps):
    label: str = Text(max_length=80)
    icon: str = Text(max_length=80, translatable=False)


class Column(ModuleProps):
    title: str = Text(max_length=80)
    rows: list[Row] = Repeater(max_items=6)


class Table(ModuleProps):
    columns: list[Column] = Repeater(max_items=6)


@pytest.mark.parametrize(("icon", "is_allowed"), [("bolt", True), ("lock", False)])
def test_only_texts_may_change_in_nested_lists(icon: str, is_allowed: bool) -> None:
    prop = props_of(Table)["columns"]
    before: list[Json] = [{"title": "Fast", "rows": [{"label": "One", "icon": "bolt"}]}]
    after: list[Json] = [{"title": "Schnell", "rows": [{"label": "Eins", "icon": icon}]}]

    assert changes_text_only(prop, before, after) is is_allowed


def test_the_first_override_of_a_shared_module_changes_text_only() -> None:
    source = make.post(type="page")
    shared = make.global_module("shared")
    type(shared).objects.filter(pk=shared.pk).update(
        type="features-list", props=features(*FEATURES)
    )
    shared.refresh_from_db()
    make.placed(source, shared)
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("translator"))
    id_ = make.module_id(post, "features-list")
    german = features({"title": "Schnell", "icon": "bolt"}, {"title": "Grün", "icon": "leaf"})
    other = features({"title": "Schnell", "icon": "lock"}, {"title": "Grün", "icon": "leaf"})

    def staged(overrides: JsonObject) -> JsonObject:
        return {"modules": [{"postModuleId": id_, "overrides": overrides}]}

    refused(
        "PUT",
        f"/api/posts/{post.pk}/review",
        staged(other),
        403,
        "not_allowed",
        f"modules.{id_}.overrides.items",
        role="translator",
    )
    ApiClient("translator").write("PUT", f"/api/posts/{post.pk}/review", staged(german))


def test_modules_are_not_theirs_to_add_move_or_remove() -> None:
    post = translation(modules=[("hero", HERO), ("prose", {})])
    hero, prose = make.module_id(post, "hero"), make.module_id(post, "prose")
    client, before = ApiClient("translator"), stored()

    client.write("POST", f"/api/posts/{post.pk}/modules", {"type": "prose"}, expect=403)
    client.write("DELETE", f"/api/post-modules/{hero}", expect=403)
    client.write(
        "POST", f"/api/posts/{post.pk}/modules/reorder", {"order": [prose, hero]}, expect=403
    )
    client.write(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": hero, "position": 1}]},
        expect=403,
    )
    with pytest.raises(NotAllowed):
        make.staged(
            post,
            layer=Layer.REVIEW,
            by=make.actor("translator"),
            edit=lambda document: document.without_module(hero),
        )

    assert stored() == before


def test_they_create_and_resolve_feedback_and_delete_their_own(client: Any) -> None:
    post = make.post()
    others, own, third = (
        create_feedback(post_id=str(post.pk), content="A typo", actor=make.actor(role))
        for role in ("editor", "translator", "translator")
    )
    translator = ApiClient("translator")

    translator.write("PATCH", f"/api/feedbacks/{others.pk}", {"status": "resolved"})
    answer = translator.write("DELETE", f"/api/feedbacks/{others.pk}", expect=403)
    translator.write("DELETE", f"/api/feedbacks/{own.pk}")

    assert answer["code"] == "not_the_author"
    assert set(Feedback.objects.values_list("pk", flat=True)) == {others.pk, third.pk}
    client.force_login(make.user("translator"))
    page = f"/admin/proofroom_feedback/feedback/{others.pk}/"
    assert f"{others.pk}/delete/" not in client.get(f"{page}change/").content.decode()
    assert client.get(f"{page}delete/").status_code == 403
    assert client.post(f"{page}delete/").status_code == 403
    mine = f"/admin/proofroom_feedback/feedback/{third.pk}/"
    assert f"{third.pk}/delete/" in client.get(f"{mine}change/").content.decode()
    assert client.post(f"{mine}delete/").status_code == 302
    assert Feedback.objects.get().pk == others.pk
    ApiClient("editor").write("DELETE", f"/api/feedbacks/{others.pk}")
