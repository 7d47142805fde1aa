"""Module groups created by users, beside ones defined in code."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import ModuleGroup, Post
from content.modules.module_groups import create_group, delete_group, edit_group
from content.store.module_group_queries import find_group
from content.tools.definitions import OfPostType, get_post_type_config, list_post_types
from content.tools.module_layouts import Groups, list_module_groups
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from proofroom.core.tools.pagination import Paged
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/module-groups"
LANDING = {
    "name": "landing",
    "label": "Landing",
    "postType": "page",
    "modules": [{"type": "hero", "locked": True, "props": {"title": "Hello"}}, {"type": "faq"}],
}


def test_it_is_made_read_and_used_for_a_post() -> None:
    client = ApiClient("admin")

    made = client.write("POST", URL, LANDING, expect=201)
    post = client.write(
        "POST",
        "/api/posts",
        {"type": "page", "title": "Start", "moduleGroup": "landing"},
        expect=201,
    )

    assert (made["source"], made["version"]) == ("stored", 1)
    assert [(row["type"], row["locked"], row["orderIndex"]) for row in made["modules"]] == [
        ("hero", True, 0),
        ("faq", False, 1),
    ]
    assert client.read(f"{URL}/landing") == made
    assert client.read(f"{URL}/{made['id']}") == made
    assert [(row["type"], row["locked"]) for row in post["modules"]] == [
        ("hero", True),
        ("faq", False),
    ]
    assert post["modules"][0]["props"]["title"] == "Hello"
    event = Event.objects.filter(name="module-group.created").get()
    assert event.payload["name"] == "landing"


def test_lists_hold_both_kinds_and_are_narrowed() -> None:
    client = ApiClient("admin")
    client.write("POST", URL, LANDING, expect=201)

    rows = client.read(f"{URL}?postType=page")["data"]

    assert [(row["name"], row["source"]) for row in rows] == [
        ("landing", "stored"),
        ("page-default", "code"),
    ]
    assert [row["name"] for row in client.read(f"{URL}?q=LAND")["data"]] == ["landing"]


def test_ai_clients_see_it_and_propose_with_it() -> None:
    from content.tools.create_post import CreatePost, create_post_ai_review

    ApiClient("admin").write("POST", URL, LANDING, expect=201)
    actor = make.mcp_actor()
    group = find_group("landing")

    listed = list_module_groups(actor, Groups(q="landing"))
    config = get_post_type_config(actor, OfPostType(post_type="page"))
    types = list_post_types(actor, Paged())
    proposed = create_post_ai_review(
        actor, CreatePost(type="page", title="Proposed", module_group_id=group.id)
    )

    assert listed["items"][0]["id"] == str(group.id)
    assert "landing" in [row["name"] for row in config["moduleGroups"]]
    page = next(row for row in types["items"] if row["slug"] == "page")
    assert page["moduleGroups"] == ["landing", "page-default"]
    assert [row["type"] for row in proposed["seededModules"]] == ["hero", "faq"]


@pytest.mark.parametrize(
    ("patch", "code", "key"),
    [
        ({"name": "page-default"}, "name_taken", "name"),
        ({"name": "taken"}, "name_taken", "name"),
        ({"name": "Not A Name"}, "invalid", "name"),
        ({"name": "x" * 81}, "invalid", "name"),
        ({"label": ""}, "invalid", "label"),
        ({"label": "x" * 201}, "invalid", "label"),
        ({"postType": "nothing"}, "unknown_post_type", "postType"),
        ({"modules": [{"type": "nothing"}]}, "unknown_module", "modules.0.type"),
        ({"modules": [{"type": "hero", "scope": "static"}]}, "invalid", "modules.0.scope"),
        ({"modules": [{"type": "hero", "scope": "global"}]}, "invalid", "modules.0.globalSlug"),
        ({"modules": [{"type": "hero", "globalSlug": "x"}]}, "invalid", "modules.0.globalSlug"),
        (
            {"modules": [{"type": "callout", "scope": "global", "globalSlug": "gone"}]},
            "unknown_global",
            "modules.0.globalSlug",
        ),
        (
            {"modules": [{"type": "hero", "props": {"title": "x" * 1_000_000}}]},
            "invalid_props",
            "modules.0.props.title",
        ),
        ({"modules": [{"type": "hero", "locked": 1}]}, "invalid", "modules.0.locked"),
        ({"modules": [1]}, "invalid", "modules.0"),
        ({"modules": {}}, "invalid", "modules"),
        ({"modules": [{"type": "hero"}] * 301}, "invalid", "modules"),
        ({"other": 1}, "invalid", "other"),
    ],
)
def test_hostile_bodies_are_refused(patch: dict[str, Any], code: str, key: str) -> None:
    create_group(actor=make.actor("admin"), name="taken", label="T", post_type="page", modules=[])
    refused("POST", URL, {**LANDING, **patch}, 422, code, key, role="admin")
    assert ModuleGroup.objects.count() == 1


def test_a_global_place_takes_overrides() -> None:
    make.global_module("letter")
    place = {
        "type": "callout", "scope": "global", "globalSlug": "letter", "props": {"title": "Mine"},
    }  # fmt: skip
    client = ApiClient("admin")
    client.write("POST", URL, {**LANDING, "modules": [place]}, expect=201)

    made = client.write(
        "POST", "/api/posts", {"type": "page", "title": "X", "moduleGroup": "landing"}, expect=201
    )

    assert made["modules"][0]["globalSlug"] == "letter"
    assert made["modules"][0]["overrides"] == {"title": "Mine"}
    wrong = {**place, "props": {"nothing": 1}}
    refused(
        "POST", URL, {**LANDING, "name": "b", "modules": [wrong]}, 422, "invalid_props",
        "modules.0.props.nothing", role="admin",
    )  # fmt: skip


def test_a_change_counts_and_posts_stay_as_they_are() -> None:
    client = ApiClient("admin")
    read = client.write("POST", URL, LANDING, expect=201)
    made = client.write(
        "POST", "/api/posts", {"type": "page", "title": "X", "moduleGroup": "landing"}, expect=201
    )

    back = client.write("PUT", f"{URL}/landing", {**read, "label": "Start"})
    stale = client.write("PUT", f"{URL}/landing", {"label": "Old", "version": 1}, expect=409)
    client.write("PUT", f"{URL}/landing", {"modules": []})

    assert (back["label"], back["version"], back["modules"]) == ("Start", 2, read["modules"])
    assert stale["version"] == 2
    assert len(client.read(f"/api/posts/{made['id']}")["modules"]) == 2
    refused("PUT", f"{URL}/landing", {"postType": "blog"}, 422, "invalid", "postType", role="admin")
    refused("PUT", f"{URL}/landing", {"name": "other"}, 422, "invalid", "name", role="admin")


def test_what_is_code_stays() -> None:
    for method in ("PUT", "DELETE"):
        refused(
            method, f"{URL}/page-default", {"label": "Mine"} if method == "PUT" else None,
            422, "code_defined", "name", role="admin",
        )  # fmt: skip
    assert ApiClient("admin").read(f"{URL}/page-default")["source"] == "code"


def test_a_deleted_group_is_gone_and_its_name_free() -> None:
    client = ApiClient("admin")
    made = client.write("POST", URL, LANDING, expect=201)

    answer = client.write("DELETE", f"{URL}/landing")

    assert answer == {"id": made["id"], "name": "landing", "deleted": True}
    client.read(f"{URL}/landing", expect=404)
    refusal = {"type": "page", "title": "X", "moduleGroup": "landing"}
    client.write("POST", "/api/posts", refusal, expect=422)
    assert Post.objects.count() == 0
    client.write("POST", URL, LANDING, expect=201)


def test_only_people_with_the_right_change_groups() -> None:
    make.user("admin")
    for actor in (make.actor("editor"), make.mcp_actor("admin"), make.agent_actor()):
        for call in (
            lambda who: create_group(actor=who, name="x", label="X", post_type="page", modules=[]),
            lambda who: edit_group(actor=who, name="x", label="Y"),
            lambda who: delete_group(actor=who, name="x"),
        ):
            with pytest.raises(NotAllowed):
                call(actor)
    assert ModuleGroup.objects.count() == 0


def test_a_group_of_another_post_type_is_refused_by_the_key_that_was_sent() -> None:
    body = {"type": "page", "title": "New", "moduleGroup": "blog-default"}

    refused("POST", "/api/posts", body, 422, "invalid", "moduleGroup")
