"""The log of calls over REST."""

from __future__ import annotations

import pytest

from tests import make
from tests.api.refusals import error
from tests.api_client import ApiClient
from tests.mcp.called import ago, called, token

pytestmark = pytest.mark.django_db
PATH = "/api/mcp-calls"


def test_rest_answers_the_same_log() -> None:
    laptop, editor = token(), make.user("editor")
    called("get_media", code="not_found", days=2, agent_id="translator")
    call = called(principal=f"client:{laptop.pk}", user=editor)

    answer = ApiClient("admin").read(PATH)

    call.refresh_from_db()
    assert answer["meta"]["total"] == 2
    assert answer["data"][0] == {
        "id": call.pk,
        "tool": "list_posts",
        "principal": f"client:{laptop.pk}",
        "caller": "Laptop",
        "user": {"id": editor.pk, "username": "editor"},
        "agentId": None,
        "ok": True,
        "code": None,
        "ms": 12,
        "requestBytes": 20,
        "responseBytes": 2048,
        "createdAt": answer["data"][0]["createdAt"],
    }
    second = answer["data"][1]
    assert (second["caller"], second["code"], second["agentId"], second["user"]) == (
        "Environment token", "not_found", "translator", None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "count"),
    [("tool=get_media", 1), ("principal=local", 1), ("ok=true", 1), ("ok=false", 1), ("code=not_found", 1),
     ("agentId=translator", 1), ("tool=none", 0), ("page=2", 0)],
)  # fmt: skip
def test_rest_filters(query: str, count: int) -> None:
    called("get_media", code="not_found", agent_id="translator")
    called(principal="local")

    assert len(ApiClient("admin").read(f"{PATH}?{query}")["data"]) == count


def test_rest_filters_by_time() -> None:
    for days in (1, 3):
        called(str(days), days=days)
    middle = ago(days=2).strftime("%Y-%m-%dT%H:%M:%SZ")
    admin = ApiClient("admin")

    assert [row["tool"] for row in admin.read(f"{PATH}?since={middle}")["data"]] == ["1"]
    assert [row["tool"] for row in admin.read(f"{PATH}?until={middle}")["data"]] == ["3"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("ok=yes", "ok"), ("since=2026", "since"), ("until=2026-01-01T00:00:00", "until"), ("tool=a%00b", "tool"),
     (f"principal={'x' * 101}", "principal")],
)  # fmt: skip
def test_rest_refuses_what_does_not_fit(query: str, field: str) -> None:
    assert error(ApiClient("admin").get(f"{PATH}?{query}"), 422, "invalid")["details"].keys() == {
        field
    }
