"""Invalid modules: props, entries, locks, orders."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

MEGABYTE = "x" * 1_000_000


@pytest.mark.parametrize(
    ("props", "key"),
    [
        ({"title": 5}, "props.title"),
        ({"titel": "x"}, "props.titel"),
        ({"title": MEGABYTE}, "props.title"),
        ({"title": "bell\x07"}, "props.title"),
        ({"title": ["x"]}, "props.title"),
        ({"title": {"a": 1}}, "props.title"),
    ],
    ids=lambda v: str(v)[:30].replace("\x00", "NUL"),
)
def test_a_prop_that_does_not_fit_its_schema(props: Any, key: str) -> None:
    post = make.post()
    id_ = make.module_id(post, "hero")

    refused("PUT", f"/api/post-modules/{id_}", {"props": props}, 422, "invalid_props", key)
    refused(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": id_, "props": props}]},
        422,
        "invalid_props",
        f"modules.{id_}.{key}",
    )


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"props": {}}, "modules.0.postModuleId"),
        ({"postModuleId": "nonsense"}, "modules.0.postModuleId"),
        ({"postModuleId": "HERO", "position": -1}, "modules.0.position"),
        ({"postModuleId": "HERO", "position": "first"}, "modules.0.position"),
        ({"postModuleId": "HERO", "props": [1]}, "modules.0.props"),
        ({"postModuleId": "HERO", "locked": False}, "modules.0.locked"),
    ],
    ids=str,
)
def test_a_staged_module_that_does_not_fit(entry: dict[str, Any], key: str) -> None:
    post = make.post()
    if entry.get("postModuleId") == "HERO":
        entry = {**entry, "postModuleId": make.module_id(post, "hero")}

    before = stored()
    answer = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}/review", {"modules": [entry]}, expect=422
    )

    assert list(answer["details"]) == [key]
    assert stored() == before


def test_a_locked_module_stays_where_and_what_it_is() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    order = list(make.layers(post).live.order)
    url, key = f"/api/post-modules/{hero}", f"modules.{hero}"

    refused("DELETE", url, None, 422, "locked_module", key)
    refused("PUT", url, {"orderIndex": 2}, 422, "locked_module", key)
    refused("PUT", url, {"locked": False}, 422, "locked_module", "locked")
    refused("PUT", url, {"type": "callout"}, 422, "module_type", "type")
    refused(
        "POST",
        f"/api/posts/{post.pk}/modules/reorder",
        {"order": [*order[1:], order[0]]},
        422,
        "locked_module",
        key,
    )
    refused(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": hero, "position": 2}]},
        422,
        "locked_module",
        key,
    )
    refused(
        "POST",
        f"/api/posts/{post.pk}/modules",
        {"type": "callout", "orderIndex": 0},
        422,
        "locked_module",
        key,
    )
    ApiClient("editor").write("PUT", url, {"props": {"title": "Its props can change"}})


@pytest.mark.parametrize("order", [[], ["x"], "abc", {"a": 1}, [1, 2, 3]], ids=str)
def test_an_order_names_every_module_once(order: Any) -> None:
    post = make.post()
    before = stored()

    answer = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/modules/reorder", {"order": order}, expect=422
    )

    assert all(key.startswith("order") for key in answer["details"]), answer
    assert stored() == before
