from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from cms_project import help
from cms_project.help import DOCS, HelpPage, pages, render

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
HOME = "/admin/help/"
NAMES = sorted(path.stem for path in [*DOCS.glob("*.md"), *DOCS.glob("admin/*.md")])
PICTURES = {path.name for path in (DOCS / "images").rglob("*.*")}


def rendered(tmp_path: Path, text: str) -> str:
    path = tmp_path / "page.md"
    path.write_text(text)
    return render(HelpPage("page", "Page", path), {"page", "layers"})


@pytest.mark.parametrize("role", ["translator", "editor", "admin"])
def test_everybody_who_works_here_finds_every_page(signed_in: SignedIn, role: str) -> None:
    client = signed_in(role)

    assert f'href="{HOME}"' in client.get("/admin/").content.decode()
    home = client.get(HOME).content.decode()
    for name in NAMES:
        assert f'href="{HOME}{name}/"' in home
        assert client.get(f"{HOME}{name}/").status_code == 200
    assert home.index(f"{HOME}editors/") < home.index(f"{HOME}agents/")


@pytest.mark.parametrize("role", [None, "ai_agent"])
def test_nobody_else_does(signed_in: SignedIn, role: str | None) -> None:
    client = signed_in(role) if role else Client()

    for address in (HOME, f"{HOME}layers/", f"{HOME}images/review.png"):
        assert client.get(address)["Location"].startswith("/admin/login/")


def test_every_link_and_picture_of_every_page_leads_somewhere(signed_in: SignedIn) -> None:
    client = signed_in()
    checked = 0
    for name in NAMES:
        page = client.get(f"{HOME}{name}/").content.decode()
        body = page.partition("<article")[2].partition("</article>")[0]
        assert not re.search(r"<img(?![^>]* src=)", body), name
        for address in re.findall(r'(?:href|src)="([^"]*)"', body):
            if address.startswith("http"):
                continue
            folder, _, picture = address.rpartition("/")
            if folder == f"{HOME}images":
                assert picture in PICTURES, (name, address)
                continue
            path, _, fragment = address.partition("#")
            answer: Any = client.get(path or f"{HOME}{name}/")
            assert answer.status_code == 200, (name, address)
            if fragment:
                assert f'id="{fragment}"' in answer.content.decode(), (name, address)
            checked += 1
    assert checked > 5


def test_the_page_has_tables_code_headings_and_one_title(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}layers/").content.decode()

    assert "<th>path</th>" in page
    assert "<pre><code>" in page
    assert 'id="help-paths"' in page
    assert page.count("<h1") == 1
    assert "<code>post.title</code>" in page


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "images",
        "..",
        "../README",
        "%2e%2e/README",
        "..%2f..%2f.env",
        "layers.md",
        "openapi",
        "layers/x",
    ],
)
def test_what_is_no_page_is_not_found(signed_in: SignedIn, name: str) -> None:
    assert signed_in().get(f"{HOME}{name}/").status_code == 404


@pytest.mark.parametrize("name", ["review.png", "screens/home-light.webp"])
def test_a_picture_is_served_as_one(signed_in: SignedIn, name: str) -> None:
    path = DOCS / "images" / name
    answer: Any = signed_in().get(f"{HOME}images/{path.name}")

    assert (answer.status_code, answer["Content-Type"]) == (200, f"image/{path.suffix[1:]}")
    assert b"".join(answer.streaming_content) == path.read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "nothing.png",
        "../layers.md",
        "..%2flayers.md",
        "%2e%2e%2f%2e%2e%2f.env",
        "..\\layers.md",
        "/etc/passwd",
        ".",
        "%00",
    ],
)
def test_no_other_file_is_served(signed_in: SignedIn, name: str) -> None:
    assert signed_in().get(f"{HOME}images/{name}").status_code == 404


def test_only_kinds_of_pictures_are_served(
    signed_in: SignedIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "images").mkdir()
    for name in ("a.svg", "a.html", "a.png"):
        (tmp_path / "images" / name).write_bytes(b"x")
    monkeypatch.setattr(help, "DOCS", tmp_path)
    client = signed_in()

    assert [
        client.get(f"{HOME}images/{name}").status_code for name in ("a.svg", "a.html", "a.png")
    ] == [
        404,
        404,
        200,
    ]
    assert client.get(HOME).status_code == 404


def test_links_lead_to_pages_or_nowhere(tmp_path: Path) -> None:
    text = (
        "[a](layers.md) [b](layers.md#paths) [c](#here) [d](https://example.com) [e](openapi.yaml)"
        " [f](../README.md) [g](nothing.md) [h](/admin/logout/) [i](//example.com/x) [j](./layers.md)"
    )

    html = rendered(tmp_path, text)

    leads = dict(re.findall(r'<a href="([^"]*)"[^>]*>(\w)</a>', html))
    assert {letter: address for address, letter in leads.items()} == {
        "b": "/admin/help/layers/#help-paths",
        "c": "#help-here",
        "d": "https://example.com",
        "i": "//example.com/x",
        "j": "/admin/help/layers/",
    }
    assert html.count('href="/admin/help/layers/"') == 2
    assert all(f">{letter}</a>" in html for letter in "efgh")


def test_pictures_come_from_their_folder(tmp_path: Path) -> None:
    html = rendered(
        tmp_path, "![a](images/review.png) ![b](https://example.com/x.png) ![c](images/../../x.png)"
    )

    assert re.findall(r'src="([^"]*)"', html) == ["/admin/help/images/review.png"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src="images/a.png" onerror="alert(1)">',
        "[x](javascript:alert(1))",
        '<a href="&#106;avascript:alert(1)">x</a>',
        '<p style="color:red" class="card" id="content">x</p>',
        '<iframe src="https://example.com"></iframe><form action="/admin/logout/"><button>x</button></form>',
    ],
)
def test_what_a_text_must_not_bring(tmp_path: Path, text: str) -> None:
    html = rendered(tmp_path, text)

    assert not re.search(r"<(script|iframe|form|button)|\son|style=|class=|javascript:|id=", html)


def test_the_policy_of_the_page_is_strict(signed_in: SignedIn) -> None:
    answer: Any = signed_in().get(HOME)

    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]


def test_a_page_is_named_by_its_heading(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# Things\n\ntext")
    (tmp_path / "a.md").write_text("no heading")
    (tmp_path / "layers.md").write_text("# The layers")

    assert [(page.name, page.title) for page in pages(tmp_path).values()] == [
        ("layers", "The layers"),
        ("a", "a"),
        ("b", "Things"),
    ]
