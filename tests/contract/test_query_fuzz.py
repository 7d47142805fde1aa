"""Every GET under /api/ × undeclared parameters, and × payloads in declared ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from proofroom.core.api.schema import operations
from tests.api.refusals import stored
from tests.api_client import ApiClient
from tests.api_description import api_description, management_lists, plain
from tests.contract.endpoint import SECRETS, Area, Endpoint, Names, areas, filled

pytestmark = pytest.mark.django_db

DELIVERY: Final = ("/api/public/", "/api/menus/by-slug/", "/api/menus/<")
LOOKUPS: Final = (
    "author__password__startswith=md5",
    "author__password__regex=.*",
    "author__email__icontains=example",
    "author__is_superuser=true",
    "by__password__gt=a",
    "user__password__startswith=p",
    "status__in=draft,archived",
    "status__ne=published",
    "deleted_at__isnull=false",
    "deletedAt=2026-01-01",
    "title__regex=(a+)+$",
    "search_text__regex=^S",
    "props__content__0__text=x",
    "instance__props__contains={}",
    "custom_fields__key__contains=x",
    "id__in=1,2",
    "pk=1",
    "or=1",
    "filter[author][password][_starts_with]=m",
    "filter={\"author\":{\"password\":{\"_starts_with\":\"m\"}}}",
    "where[author][password][$startsWith]=m",
    "where={\"password\":{\"$regex\":\".\"}}",
    "$where=1",
    "[$ne]=1",
    "populate=author.password",
    "include=author",
    "expand=author",
    "select=password",
    "columns=password",
    "sort=author.password",
    "order_by=author__password",
    "limit=-1",
    "offset=-1",
    "draft=true",
    "preview=true",
    "deep[modules][_limit]=-1",
    "format=xml",
    "_method=DELETE",
    "debug=1",
    "%00=1",
    "%ff=%fe",
    "=nameless",
)  # fmt: skip
AGGREGATES: Final = (
    "aggregate[min]=password",
    "aggregate[max][]=author.password",
    "groupBy[]=author.email",
    "group_by=author__password",
    "groupBy=password",
    "having=password",
    "distinct=author__password",
    "annotate=password",
    "metrics=password",
    "meta=*",
)
PAYLOADS: Final = (
    "'",
    "' OR '1'='1",
    "1; DROP TABLE content_post; --",
    "') UNION SELECT password FROM proofroom_accounts_user --",
    '"; DELETE FROM content_post; --',
    "$.a[*] ? (@ like_regex \".*\")",
    "a'::jsonb->>'b",
    "modules.*.props",
    "__proto__",
    "author__password",
    "-author__password",
    "{$gt: ''}",
    "%",
    "\\",
    "\x00",
    "\ud800",
    "🦆" * 50,
    "9" * 400,
    "-1",
    "1e309",
    "NaN",
    "2026-02-30",
    "a" * 5000,
    "(a+)+$" * 30,
    "[" * 500,
    "../../../etc/passwd",
    "//example.com",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "",
)  # fmt: skip
READS: Final = [
    (area, item)
    for area in areas()
    for item in area.endpoints
    if item.method == "GET" and item.answers is not None and item.who != SECRETS
]
each_read = pytest.mark.parametrize(
    ("area", "endpoint"), READS, ids=[endpoint.address for _, endpoint in READS]
)
# The log has its own export in it, and reads `format`.
LIKE_BEFORE: Final = [pair for pair in READS if pair[1].path != "/api/activity/export"]
each_that_stays = pytest.mark.parametrize(
    ("area", "endpoint"), LIKE_BEFORE, ids=[endpoint.address for _, endpoint in LIKE_BEFORE]
)


@pytest.fixture(scope="module")
def declared() -> dict[str, list[str]]:
    """Return the query parameters of each GET by path, from the OpenAPI document."""
    return {
        plain(path): [item["name"] for item in found.get("parameters", ()) if item["in"] == "query"]
        for path, method, found in operations(api_description())
        if method == "get"
    }


def ask(client: ApiClient, endpoint: Endpoint, names: Names, parameters: str = "") -> Any:
    path = filled(endpoint.path + endpoint.query, names)
    join = "&" if "?" in path else "?"
    return client.get(f"{path}{join}{parameters}" if parameters else path)


def whole(response: Any) -> bytes:
    return b"".join(response) if response.streaming else response.content


def assert_not_taken(area: Area, endpoint: Endpoint, parameters: Iterable[str]) -> None:
    """Check that delivery and lists of the management API refuse each parameter, and other endpoints ignore it."""
    client, names = ApiClient("admin"), area.scene()
    is_delivery = endpoint.path.split()[-1].startswith(DELIVERY)
    if is_delivery or plain(endpoint.path) in management_lists():
        refusable = [one for one in parameters if not one.startswith("_")]
        for parameter in refusable:
            refused = ask(client, endpoint, names, parameter)
            assert refused.status_code == 422, (parameter, refused.content[:300])
            assert len(refused.json()["details"]) == 1
        # What campaigns and CDNs append.
        parameters = [one for one in parameters if one not in refusable]
    plain_answer = ask(client, endpoint, names)

    answer = ask(client, endpoint, names, "&".join(parameters))

    assert answer.status_code == plain_answer.status_code == endpoint.answers
    assert whole(answer) == whole(plain_answer)


@each_that_stays
def test_threat_18_what_nobody_declared_is_not_taken(area: Area, endpoint: Endpoint) -> None:
    assert_not_taken(area, endpoint, LOOKUPS)


@each_that_stays
def test_threat_20_nothing_is_grouped_or_counted_by_what_a_caller_names(
    area: Area, endpoint: Endpoint
) -> None:
    assert_not_taken(area, endpoint, AGGREGATES)


@each_read
def test_threat_25_a_payload_in_a_parameter_is_a_value_or_refused(
    area: Area, endpoint: Endpoint, declared: dict[str, list[str]]
) -> None:
    client, names = ApiClient("admin"), area.scene()
    before = stored()

    # The document itself is not described in it.
    for name in declared.get(plain(endpoint.path), ["lang"]):
        for payload in PAYLOADS:
            text = urlencode({name: payload}, errors="surrogatepass")
            response = ask(client, endpoint, names, text)

            assert response.status_code in (200, 404, 422), (name, payload, response.content[:300])
            if response.status_code != 200:
                assert set(response.json()) == {"error", "code", "details"}
    # Only the export itself is in the log.
    end = -1 if endpoint.path.endswith("/export") else None
    assert stored()[:end] == before[:end]
