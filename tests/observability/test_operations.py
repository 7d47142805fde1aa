"""Requests have ids, and staff see a page's timing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from cms_project.logs import JsonFormatter
from proofroom.core.observability import operations
from proofroom.core.observability.operations import MeasuredOperation, OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids, choose_request_id, current_ids
from proofroom.core.tasks import dispatch_events
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended() -> Any:
    found: list[MeasuredOperation] = []
    with operations.operation_ended.registered_temporarily(found.append):
        yield found


def ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_statements_count_for_the_operation_and_its_parents(
    ended: list[MeasuredOperation],
) -> None:
    with measure(OperationKind.TASK, "outer"):
        ask_database()
        with measure(OperationKind.TOOL_CALL, "inner"):
            ask_database()
            ask_database()

    assert [(one.name, one.statements) for one in ended] == [("inner", 2), ("outer", 3)]
    assert 0 < ended[0].database_seconds < ended[1].seconds


def test_what_raises_ends_as_an_error(ended: list[MeasuredOperation]) -> None:
    with pytest.raises(ZeroDivisionError), measure(OperationKind.TASK, "broken"):
        _ = 1 / 0

    assert [one.outcome for one in ended] == ["error"]


def test_a_request_is_named_by_its_route_and_never_by_its_address(
    client: Client, ended: list[MeasuredOperation]
) -> None:
    post = make.post()

    client.get(f"/api/public/posts/{post.pk}")
    client.get("/api/nothing/that/anybody/made")

    names = [(one.method, one.name, one.outcome) for one in ended]
    assert names[0][0] == "GET"
    assert names[0][2] == "200"
    assert str(post.pk) not in names[0][1]
    assert names[1][2] == "404"
    assert "anybody" not in names[1][1]


def test_every_answer_has_an_id_of_its_own(client: Client) -> None:
    first, second = (client.get("/health").headers["X-Request-ID"] for _ in range(2))

    assert re.fullmatch("[0-9a-f]{32}", first)
    assert first != second


def test_only_a_proxy_of_ours_names_a_request(client: Client, settings: Any) -> None:
    name = {"X-Request-ID": "from-outside-1"}
    assert client.get("/health", headers=name).headers["X-Request-ID"] != "from-outside-1"

    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"trusted_proxies": 1})

    assert client.get("/health", headers=name).headers["X-Request-ID"] == "from-outside-1"


def test_the_record_of_a_refused_request_has_its_id(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get("/nothing-here")

    [record] = [one for one in caplog.records if one.name == "django.request"]
    told = json.loads(JsonFormatter().format(record))
    assert told["message"] == "Not Found: /nothing-here"
    assert told["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.parametrize("given", [None, "", "short", "x" * 65, "two\nlines-of-it", "ünïcödé-id"])
def test_what_can_be_no_id_gets_a_new_one(given: str | None) -> None:
    assert re.fullmatch("[0-9a-f]{32}", choose_request_id(given))


def test_staff_see_timings_and_visitors_do_not(client: Client) -> None:
    assert "Server-Timing" not in client.get("/admin/login/").headers
    client.force_login(make.user(role="admin"))

    timing = client.get("/admin/").headers["Server-Timing"]

    found = re.fullmatch(
        r'total;dur=([\d.]+), db;dur=([\d.]+);desc="(\d+) statements", app;dur=[\d.]+', timing
    )
    assert found, timing
    assert float(found[1]) >= float(found[2]) > 0
    assert int(found[3]) > 3


def test_a_user_that_nothing_has_read_is_not_loaded_for_it(
    client: Client, django_assert_num_queries: Any
) -> None:
    client.force_login(make.user(role="admin"))

    with django_assert_num_queries(0):
        answer = client.get("/api/none")

    assert "Server-Timing" not in answer.headers


def test_a_message_to_a_worker_takes_the_ids_along(ended: list[MeasuredOperation]) -> None:
    seen = []
    with (
        operations.operation_ended.registered_temporarily(lambda _: seen.append(current_ids())),
        bind_ids({"request_id": "request-1", "cause_id": 7}),
    ):
        dispatch_events.delay([], [])

    assert ended[-1].name == "core.tasks.dispatch_events"
    assert (seen[-1]["request_id"], seen[-1]["cause_id"]) == ("request-1", "7")


def test_ids_end_with_their_block() -> None:
    with bind_ids({"run_id": "one", "cause_id": None}):
        with bind_ids({"run_id": "two"}):
            assert current_ids() == {"run_id": "two"}
        assert current_ids() == {"run_id": "one"}
    assert current_ids() == {}
