"""Every URL under /api/ × every role × every outcome, compared with tables written from the contract.

The tables are in `tests/contract/endpoints/`. A new URL fails here until it is in one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from proofroom.core.api.permissions import PUBLIC, SECRET, SIGNED_IN
from proofroom.core.caching.answer_cache import answers
from tests.api.refusals import stored
from tests.api_client import ApiClient
from tests.contract.addresses import addresses
from tests.contract.endpoint import (
    ALL,
    NOBODY,
    ROLES,
    SECRETS,
    Area,
    Endpoint,
    Names,
    areas,
    filled,
)

pytestmark = pytest.mark.django_db

AREAS: Final = areas()
ALL_ENDPOINTS: Final = [(area, item) for area in AREAS for item in area.endpoints]
FEW, MANY = 10, 1_000
"""Row counts for comparing the statements of a list."""


def cases(*, of: Callable[[Endpoint], bool]) -> pytest.MarkDecorator:
    """Return the endpoints that an outcome applies to."""
    found = [pair for pair in ALL_ENDPOINTS if of(pair[1])]
    return pytest.mark.parametrize(
        ("area", "endpoint"), found, ids=[endpoint.address for _, endpoint in found]
    )


def plain(path: str) -> str:
    """Return the URL without parameter names, which differ between tables and code."""
    return "/".join("<>" if part.startswith("<") else part for part in path.split("/"))


def call(
    endpoint: Endpoint,
    names: Names,
    caller: str | ApiClient | None,
    body: Any = None,
    query: str = "",
) -> Any:
    """Return the response to a role, or to the client itself."""
    client = caller if isinstance(caller, ApiClient) else ApiClient(caller)
    path = filled(endpoint.path + query, names)
    if endpoint.method == "GET":
        return client.get(path)
    if endpoint.is_multipart:
        return client.send_form(endpoint.method, path, filled(body or {}, names))
    return client.send(endpoint.method, path, filled(body, names) if body is not None else None)


def succeed(endpoint: Endpoint, names: Names, caller: str | ApiClient | None) -> Any:
    return call(endpoint, names, caller, endpoint.body, endpoint.query)


def assert_error(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content[:500]
    answer: dict[str, Any] = response.json()
    assert set(answer) - {"version"} == {"error", "code", "details"}
    return answer


def test_every_address_is_in_a_table() -> None:
    served = {f"{method} {plain(item.path)}" for item in addresses() for method in item.methods}

    listed = [f"{item.method} {plain(item.path)}" for _, item in ALL_ENDPOINTS]

    assert sorted(listed) == sorted(served)


def test_every_address_declares_its_permissions() -> None:
    public = {plain(item.path) for _, item in ALL_ENDPOINTS if item.who in (ALL, SECRETS)}
    for address in addresses():
        if not hasattr(address.view, "permissions"):
            continue
        for action in address.actions.values():
            declared = address.view.permissions[action]
            names = {declared} if isinstance(declared, str) else set(declared)
            is_public = bool(names & {PUBLIC, SECRET})
            assert not is_public or plain(address.path) in public, address
            assert names - {PUBLIC, SECRET, SIGNED_IN} or is_public or SIGNED_IN in names


@cases(of=lambda endpoint: endpoint.who != ALL)
def test_who_may_not_is_refused_and_nothing_moves(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    before = stored()

    for role in ROLES:
        if role in endpoint.who:
            continue
        response = succeed(endpoint, names, role)

        # Agents have no sessions, because their accounts cannot log in.
        unknown = role in (None, "ai_agent") or endpoint.who == SECRETS
        assert_error(response, 401 if unknown else 403)
    assert stored() == before


@pytest.mark.parametrize(
    ("area", "endpoint", "role"),
    [
        pytest.param(area, item, role, id=f"{item.address}-{role}")
        for area, item in ALL_ENDPOINTS
        for role in ROLES
        if item.answers is not None and role in item.who
    ],
)
def test_who_may_succeeds(area: Area, endpoint: Endpoint, role: str | None) -> None:
    names = area.scene()
    before = stored()

    response = succeed(endpoint, names, role)

    if role in endpoint.refused:
        assert_error(response, 403)
        assert stored() == before
    else:
        assert response.status_code == endpoint.answers, response.content[:500]
        if endpoint.method == "GET":
            # Only the export itself, and who looked at submissions, is in the log.
            is_logged = endpoint.path.endswith(("/export", "/requests/<request_id>/file")) or (
                "/submissions" in endpoint.path
            )
            end = -1 if is_logged else None
            assert stored()[:end] == before[:end]


@cases(of=lambda endpoint: endpoint.has_gaps and endpoint.is_missing_404)
def test_what_is_not_there_is_404(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    before = stored()
    gaps = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("<")]

    for gap in gaps:
        for value in (NOBODY, "not-an-id"):
            response = succeed(endpoint, {**names, gap: value}, "admin")

            assert_error(response, 404)
    assert stored() == before


@cases(of=lambda endpoint: endpoint.invalid is not None)
def test_what_does_not_fit_is_422(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    before = stored()
    assert endpoint.invalid is not None
    given, key = endpoint.invalid

    if endpoint.method == "GET":
        response = call(endpoint, names, "admin", query=given)
    else:
        response = call(endpoint, names, "admin", given, endpoint.query)

    assert key in assert_error(response, 422)["details"], response.content
    assert stored() == before


@cases(of=lambda endpoint: endpoint.stale is not None)
def test_what_moved_meanwhile_is_409(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    before = stored()

    response = call(endpoint, names, "admin", endpoint.stale, endpoint.query)

    assert "stale" in assert_error(response, 409)["code"]
    assert stored() == before


@cases(of=lambda endpoint: endpoint.body is not None and endpoint.who != SECRETS)
def test_a_body_that_is_none_is_refused(area: Area, endpoint: Endpoint) -> None:
    names = area.scene()
    before = stored()
    path = filled(endpoint.path, names)
    wrong = (("{", 400), ("[1]", 422), ('{"nonsense": 1}', 422))

    for body, status in (("{}", 415),) if endpoint.is_multipart else wrong:
        response = ApiClient("admin").send(endpoint.method, path, body)

        assert_error(response, status)
    assert stored() == before


@cases(of=lambda endpoint: endpoint.grow is not None)
def test_a_list_takes_as_many_statements_for_a_thousand_rows(
    area: Area, endpoint: Endpoint
) -> None:
    names = area.scene()
    assert endpoint.grow is not None
    counts = []

    for number in (FEW, MANY - FEW):
        endpoint.grow(number)
        answers.clear()  # rows that came past the services: no kept answer counts
        client = ApiClient("admin")
        with CaptureQueriesContext(connection) as caught:
            response = client.get(filled(endpoint.path, names) + "?per_page=100")
        assert response.status_code == 200, response.content[:500]
        counts.append(len(caught))

    total = response.json()["meta"]["total"]
    assert total >= MANY, total
    assert counts[0] == counts[1]
