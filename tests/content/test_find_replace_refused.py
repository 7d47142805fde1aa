"""Find and replace: errors, and excluded content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from content.models import ModuleInstance
from media.models import Asset
from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient
from tests.content.replacing import CONTENT, URL, send, words_of

pytestmark = pytest.mark.django_db


def test_a_value_against_its_rule_refuses_all_and_says_where() -> None:
    short = make.post("Short a", slug="short", markdown="b")
    long = make.post("Long " + "a" * 100, slug="long", markdown="b")
    hero = f"modules.{make.module_id(long, 'hero')}.props.title"

    for tables, key in ((CONTENT, f"posts.{long.pk}.title"), (["modules"], hero)):
        body = {"find": "a", "replace": "aaaa", "tables": tables}
        answer = refused("POST", URL, body, 422, "invalid", key, role="admin")
        assert "Nothing was replaced" in answer["error"]
        refused("POST", URL, {**body, "dryRun": True}, 422, "invalid", key, role="admin")

    short.refresh_from_db()
    assert short.title == "Short a"


def test_threat_29_no_address_becomes_a_script() -> None:
    post = make.post(markdown="[here](https://one.example/x)", canonicalUrl="https://one.example/")
    before = stored()

    for find, new in (
        ("https://one.example", "javascript:alert(1)"),
        ("https:", "javascript:"),
        ("https:", "java\tscript:"),
        ("https://one.example/x", "data:text/html,<script>"),
    ):
        ApiClient("admin").write(
            "POST", URL, {"find": find, "replace": new, "tables": CONTENT}, expect=422
        )
        assert stored() == before
    assert send("one.example", "two.example")["total"] == 2
    assert "https://two.example/x" in words_of(post)


def test_threat_34_files_and_their_addresses_stay() -> None:
    asset = Asset.objects.create(
        filename="a.webp", file="aa/a.webp", size=1, mime="image/webp", alt_text="A webp picture",
        categories=["webp", "x"], variants={"large": "aa/a-large.webp"},
    )  # fmt: skip
    make.post(markdown="![webp](https://cdn.example/a.webp)")

    answer = send("webp", "svg", "media", "modules")

    asset.refresh_from_db()
    assert (asset.filename, asset.file.name, asset.mime) == ("a.webp", "aa/a.webp", "image/webp")
    assert asset.variants == {"large": "aa/a-large.webp"}
    assert (asset.alt_text, asset.categories) == ("A svg picture", ["svg", "x"])
    assert answer["tables"] == {"modules": 1, "media": 2} or answer["tables"] == {
        "media": 2,
        "modules": 1,
    }
    assert "https://cdn.example/a.webp" in json.dumps(
        [row.props for row in ModuleInstance.objects.all()]
    )


@pytest.mark.parametrize(
    ("patch", "key"),
    [
        ({"find": ""}, "find"),
        ({"find": "x" * 1001}, "find"),
        ({"find": "a\u0000b"}, "find"),
        ({"find": 1}, "find"),
        ({"replace": "x" * 10_001}, "replace"),
        ({"replace": None}, "replace"),
        ({"tables": []}, "tables"),
        ({"tables": ["posts", "auth_user; DROP TABLE x"]}, "tables"),
        ({"tables": "posts"}, "tables"),
        ({"dryRun": 1}, "dryRun"),
        ({"caseSensitive": "no"}, "caseSensitive"),
        ({"regex": True}, "regex"),
    ],
)
def test_hostile_bodies_are_refused(patch: dict[str, Any], key: str) -> None:
    make.post("a")
    body = {"find": "a", "replace": "b", "tables": ["posts"], **patch}
    refused("POST", URL, body, 422, "invalid", key, role="admin")


def test_a_text_does_not_grow_without_bound() -> None:
    post = make.post(markdown="a" * 5_000)
    key = f"modules.{make.module_id(post, 'prose')}"
    client = ApiClient("admin")

    answer = client.write(
        "POST", URL, {"find": "a", "replace": "b" * 10_000, "tables": ["modules"]}, expect=422
    )

    assert next(iter(answer["details"])).startswith(("posts.", key))
    assert "aaaa" in words_of(post)


def test_agents_and_programs_without_the_right_cannot() -> None:
    from content.find_replace.services import find_and_replace
    from proofroom.core.errors import NotAllowed

    make.post("Coffee")
    before = stored()
    for actor in (make.agent_actor(), make.mcp_actor("admin"), make.actor("editor")):
        with pytest.raises(NotAllowed):
            find_and_replace(actor=actor, find="Coffee", replace="x", tables=["posts"])
    assert stored() == before
