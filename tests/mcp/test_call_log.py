"""The call log in the admin: rows, counts, and number of queries."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from mcp_bridge.call_log import calls, count_by_time, most_refused, span_begin
from tests import make
from tests.api.refusals import error
from tests.api_client import ApiClient
from tests.mcp.called import ago, called, token
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

LIST = "/admin/mcp_bridge/mcpcall/"


def shown(query: str = "") -> str:
    answer = ApiClient("admin").get(LIST + query)
    assert answer.status_code == 200
    return answer.content.decode()


def rows(text: str) -> list[str]:
    """Return the text of each row of the list."""
    table = text.partition('id="result_list"')[2].partition("</table>")[0]
    found = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


def test_a_row_names_tool_caller_account_agent_outcome_time_and_sizes() -> None:
    laptop, editor = token(), make.user("editor")
    called(principal=f"client:{laptop.pk}", user=editor, agent_id="seo-specialist", ms=1234)
    called("get_post_context", principal="local", code="not_found", hours=1)

    text = shown()

    first, second = (re.sub(r"^\S+ \S+ ", "", row) for row in rows(text))
    assert (
        first
        == "list_posts ok 1,234 ms Laptop editor · seo-specialist 20\xa0bytes / 2.0\xa0KB".replace(
            "\xa0", " "
        )
    )
    assert second == "get_post_context not_found 12 ms This machine 20 bytes / 2.0 KB"
    assert f'<a href="/admin/mcp_bridge/mcptoken/{laptop.pk}/change/">Laptop</a>' in text


def test_a_caller_whose_token_is_gone_stays_in_the_log() -> None:
    laptop = token()
    called(principal=f"client:{laptop.pk}")
    called(principal="client:no-id", hours=1)
    id_ = laptop.pk
    laptop.delete()

    text = shown()

    assert [str(id_) in rows(text)[0], "client:no-id" in rows(text)[1]] == [True, True]
    assert "mcptoken/" + str(id_) not in text


@pytest.mark.parametrize(
    ("query", "tools"),
    [
        ("?outcome=ok", ["list_posts", "get_media"]),
        ("?outcome=refused", ["get_post_context"]),
        ("?outcome=other", []),
        ("?span=day", ["list_posts", "get_post_context"]),
        ("?span=year", []),
        ("?tool=get_media", ["get_media"]),
        ("?code=not_found", ["get_post_context"]),
        ("?caller=local", ["get_post_context"]),
        ("?agent=translator", ["get_media"]),
        ("?q=post_con", ["get_post_context"]),
        ("?q=not_found", ["get_post_context"]),
        ("?q=translator", ["get_media"]),
        ("?q=lapt", ["list_posts"]),
        ("?q=%25", []),
        ("?caller=&span=", ["list_posts", "get_post_context", "get_media"]),
    ],
)
def test_filters_and_search_narrow_the_list(query: str, tools: list[str]) -> None:
    called(principal=f"client:{token().pk}")
    called("get_post_context", principal="local", code="not_found", hours=1)
    called("get_media", agent_id="translator", days=40)

    assert [row.split()[2] for row in rows(shown(query))] == tools


def test_calls_are_counted_by_hour_and_by_day() -> None:
    for hours in (0, 0, 1, 23, 25, 24 * 8):
        called(hours=hours, code="invalid" if hours == 1 else "")

    day, week = count_by_time(calls(), "day"), count_by_time(calls(), "week")

    assert (len(day), len(week), len(count_by_time(calls(), "month"))) == (24, 7, 30)
    now = timezone.now()
    assert day[-1].begin == now.replace(minute=0, second=0, microsecond=0)
    assert day[0].begin == span_begin("day")
    # The hour that was 23 hours ago is the first one, whatever the minute.
    assert [(item.total, item.failed) for item in (day[-1], day[-2], day[0])] == [
        (2, 0), (1, 1), (1, 0),
    ]  # fmt: skip
    assert sum(item.total for item in day) == 4
    assert (sum(item.total for item in week), sum(item.failed for item in week)) == (5, 1)


def test_what_is_refused_most_comes_first_and_the_figures_follow_the_filters() -> None:
    for _ in range(3):
        called(code="invalid_arguments")
    called(code="not_found", hours=1)
    called("get_media", code="not_found", principal="local")
    called(days=3, code="stale_version")
    called()

    found = [(row.tool, row.code, row.count) for row in most_refused(calls(), "day")]

    assert found == [
        ("list_posts", "invalid_arguments", 3),
        ("get_media", "not_found", 1),
        ("list_posts", "not_found", 1),
    ]
    assert len(most_refused(calls(), "week")) == 4
    text = shown()
    assert "6 calls, " in re.sub(r"<[^>]+>", "", text)
    assert '<a href="?span=day&amp;tool=list_posts&amp;code=invalid_arguments">' in text
    assert len(rows(shown("?span=day&tool=list_posts&code=invalid_arguments"))) == 3
    assert "1 call, 1 rejected or failed" in re.sub(r"<[^>]+>", "", shown("?caller=local"))


def test_the_figures_stand_in_a_table_too() -> None:
    called()
    called(code="invalid")

    table = shown().partition("As a table")[2].partition("</table>")[0]

    assert re.findall(r"<td>(\d+)</td>", table) == ["2", "1"]


def test_an_empty_log_says_how_to_connect() -> None:
    assert "No calls yet." in shown()
    assert 'href="/admin/mcp/">Connect a client</a>' in shown()
    assert "No calls yet." not in shown("?outcome=ok")


def test_the_list_takes_as_many_statements_for_one_call_as_for_fifty() -> None:
    def statements() -> int:
        client = ApiClient("admin")
        client.get(LIST)
        return count_queries(client.get, LIST)

    called(principal=f"client:{token('0').pk}", user=make.user("editor"))
    few = statements()
    for number in range(1, 50):
        name = f"person{number}"
        called(principal=f"client:{token(name).pk}", user=make.user("editor", name), code=name)
    assert statements() == few


def test_the_filter_of_agents_says_names() -> None:
    make.agent_actor("seo-specialist")

    assert ">SEO specialist</a>" in shown("?outcome=ok")


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
