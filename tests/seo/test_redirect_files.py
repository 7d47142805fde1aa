"""Redirects as CSV: import line by line, and lossless export."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from seo.redirect_csv import MAX_CHARACTERS, MAX_LINES
from seo.services.redirect_import import check_import, import_redirects
from tests import make
from tests.api_client import ApiClient
from tests.seo.leading import leads

pytestmark = pytest.mark.django_db
PATH = "/api/redirects/import"


def sent(csv: str, *, expect: int = 200, **body: Any) -> Any:
    return ApiClient("editor").write("POST", PATH, {"csv": csv, **body}, expect=expect)


def test_lines_are_made_changed_or_left() -> None:
    make.redirect("/same", "/there")
    make.redirect("/other", "/old", type=302)
    csv = "fromPath,toPath,type,active\n/new,/there,302,true\n/same,/there,,\n/other,/changed,301,no\n"

    done = sent(csv)

    assert done == {"dryRun": False, "created": 1, "changed": 1, "unchanged": 1, "errors": []}
    rows = Redirect.objects.order_by("from_path")
    assert list(rows.values_list("from_path", "to_path", "type", "is_active")) == [
        ("/new", "/there", 302, True),
        ("/other", "/changed", 301, False),
        ("/same", "/there", 301, True),
    ]
    event = Event.objects.filter(name="content.changed").latest("id")
    assert event.payload == {"what": "redirect", "did": "imported", "created": 1, "changed": 1}
    assert sent(csv)["unchanged"] == 3


def test_a_dry_run_says_the_same_and_changes_nothing() -> None:
    make.redirect("/a", "/b")
    before, events = leads(), Event.objects.count()

    done = sent("from,to\n/a,/c\n/x,/y\n/admin/x,/y\n/z,//evil\n", dryRun=True)

    assert (done["created"], done["changed"]) == (0, 0)
    assert [(item["line"], item["field"]) for item in done["errors"]] == [
        (4, "fromPath"),
        (5, "toPath"),
    ]
    good = sent("from,to\n/a,/c\n/x,/y\n", dryRun=True)
    assert good == {"dryRun": True, "created": 1, "changed": 1, "unchanged": 0, "errors": []}
    assert (leads(), Event.objects.count()) == (before, events)


def test_one_line_that_does_not_fit_keeps_all_of_them_out() -> None:
    answer = sent("/a,/b\n/b,javascript:alert(1)\n/c,/d,303\n/e,/f,301,maybe\n", expect=422)

    assert answer["code"] == "invalid_lines"
    assert set(answer["details"]) == {"lines.2.toPath", "lines.3.type", "lines.4.active"}
    assert leads() == {}


@pytest.mark.parametrize(
    "csv",
    [
        "/a,/b\n/c,/d\n",
        "\ufefffromPath,toPath\r\n/a,/b\r\n/c,/d\r\n",
        "From;To\n/a;/b\n\n/c;/d\n",
        "to_path\tfrom_path\n/b\t/a\n/d\t/c\n",
        'from,to\n"/a","/b"\n /c , /d \n;\n'.replace(";\n", ""),
        "fromPath,toPath,type,active,automatic,hits,locale\n/a,/b,301,true,false,7,en\n/c,/d,,,,,\n",
    ],
)
def test_files_of_many_programs_are_read(csv: str) -> None:
    sent(csv)

    assert leads() == {"/a": "/b", "/c": "/d"}
    assert set(Redirect.objects.values_list("hits", flat=True)) == {0}


@pytest.mark.parametrize(
    ("csv", "key"),
    [
        ("from,nonsense\n/a,/b\n", "lines.1"),
        ("from,type\n/a,301\n", "lines.1"),
        ("from,to,to\n/a,/b,/c\n", "lines.1"),
        ("from,to\n", "lines.1"),
        ("\n\n", "lines.1"),
        ("from,to\n/a,/b,/c\n", "lines.2"),
        ("from,to\n/a\n", "lines.2.toPath"),
        ('from,to\n/a,"/b\n', "lines.2"),
        ("from,to\n/a,/b\n/a/,/c\n", "lines.3.fromPath"),
        ("from,to\n/a?x,/b\n", "lines.2.fromPath"),
        ("from,to\n/a,/x%0d%0aSet-Cookie: a=b\n", "lines.2.toPath"),
        ("from,to\n/a,/a\n", "lines.2.toPath"),
        ("from,to\n/a,/b\n/b,/c\n/c,/a\n", "lines.2.toPath"),
        ("from,to\n/blog/tea,/b\n", "lines.2.fromPath"),
        ("from,to\n" + "/a,/b\n" * (MAX_LINES + 1), f"lines.{MAX_LINES + 2}"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_by_its_line(csv: str, key: str) -> None:
    make.post(slug="tea")

    answer = sent(csv, expect=422)

    assert key in answer["details"], answer
    assert leads() == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"csv": ""},
        {"csv": 1},
        {"csv": "/a,/b\x00"},
        {"csv": "x" * (MAX_CHARACTERS + 1)},
        {"csv": "/a,/b", "dryRun": "yes"},
        {"csv": "/a,/b", "more": 1},
    ],
)
def test_bodies_that_do_not_fit_are_refused(body: Any) -> None:
    ApiClient("editor").write("POST", PATH, body, expect=422)

    assert leads() == {}


def test_chains_are_collapsed_among_lines_and_with_existing_redirects() -> None:
    make.redirect("/z", "/a?q=1")
    make.redirect("/d", "https://shop.example/")

    sent("/a,/b\n/b,/c\n/c,/d\n")

    shop = "https://shop.example/"
    assert leads() == {"/a": shop, "/b": shop, "/c": shop, "/d": shop, "/z": shop}


def test_a_loop_with_existing_redirects_is_refused() -> None:
    make.redirect("/b", "/a")

    answer = sent("/a,/b\n", expect=422)

    assert "lines.1.toPath" in answer["details"]
    assert leads() == {"/b": "/a"}


def test_it_asks_for_many_lines_together() -> None:
    text = "\n".join(f"/from{place},/to{place}" for place in range(200))

    with CaptureQueriesContext(connection) as caught:
        done = import_redirects(text=text, actor=make.actor())

    assert done.created == 200
    assert len(caught) < 30


def test_an_export_comes_back_the_same() -> None:
    make.redirect("/ä,b", "/x", type=302)
    make.redirect("/c", "https://shop.example/?a=1,2", active=False)
    client = ApiClient("editor")

    response = client.get("/api/redirects/export")

    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = response.getvalue().decode()
    assert text.splitlines() == [
        "\ufefffromPath,toPath,type,active,automatic,hits,locale",
        '/c,"https://shop.example/?a=1,2",301,false,false,0,en',
        '"/ä,b",/x,302,true,false,0,en',
    ]
    assert Event.objects.filter(name="redirects.exported").count() == 1
    assert sent(text)["unchanged"] == 2
    before = leads()
    Redirect.objects.all().delete()
    assert sent(text)["created"] == 2
    assert leads() == before


def test_agents_and_translators_import_nothing() -> None:
    for actor in (make.mcp_actor("admin"), make.agent_actor(), make.actor("translator")):
        for work in (import_redirects, check_import):
            with pytest.raises(NotAllowed):
                work(text="/a,/b", actor=actor)
    assert leads() == {}


def test_a_refusal_names_at_most_a_hundred_lines() -> None:
    with pytest.raises(RuleViolation) as refusal:
        import_redirects(text="/a,x\n" * 300, actor=make.actor())

    assert len(refusal.value.details) == 100
    assert "300 of the lines" in refusal.value.message
