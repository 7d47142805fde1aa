from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from cms_project.help import views
from cms_project.help.pages import DOCS, HelpPage, help_anchors, pages
from cms_project.help.rendering import render
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
HOME = "/admin/help/"
FOLDERS = ("", "admin", "tutorial", "how-to", "reference", "explanation")
NAMES = list(pages(DOCS))
KNOWN = ("explanation/page", "explanation/layers", "how-to/index", "index", "admin/review")
PICTURES = {path.name for path in (DOCS / "images").rglob("*.*")}


def rendered(docs: Path, text: str) -> str:
    for name in KNOWN:
        path = docs / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n")
    page = docs / "explanation/page.md"
    page.write_text(text)
    known = pages(docs)
    assert isinstance(known["explanation/page"], HelpPage)
    return render(known["explanation/page"], docs, known)


@pytest.mark.parametrize("role", ["translator", "editor", "admin"])
def test_everybody_who_works_here_finds_every_page(signed_in: SignedIn, role: str) -> None:
    client = signed_in(role)

    assert f'href="{HOME}admin/inbox/#help-home"' in client.get("/admin/").content.decode()
    home = client.get(HOME).content.decode()
    assert [name for name in NAMES if f'href="{HOME}{name}/"' not in home] == []
    assert client.get(f"{HOME}{NAMES[-1]}/").status_code == 200
    assert home.index(f"{HOME}admin/") < home.index(f"{HOME}reference/agents/")


def test_every_page_of_the_folders_is_a_help_page() -> None:
    files = [path for folder in FOLDERS for path in (DOCS / folder).glob("*.md")]

    assert len(NAMES) == len(files) > 50


@pytest.mark.parametrize("role", [None, "ai_agent"])
def test_nobody_else_does(signed_in: SignedIn, role: str | None) -> None:
    client = signed_in(role) if role else Client()

    for address in (HOME, f"{HOME}explanation/layers/", f"{HOME}images/review.webp"):
        assert client.get(address)["Location"].startswith("/admin/login/")


def test_every_link_and_picture_of_every_page_leads_somewhere() -> None:
    known = pages(DOCS)
    bodies = {f"{HOME}{name}/": render(page, DOCS, known) for name, page in known.items()}
    checked = 0
    for own, body in bodies.items():
        assert not re.search(r"<img(?![^>]* src=)", body), own
        headings = re.findall(r'<h\d id="help-([^"]*)"', body)
        assert headings == help_anchors(known[own.removeprefix(HOME).rstrip("/")]), own
        for address in re.findall(r'(?:href|src)="([^"]*)"', body):
            if address.startswith(("http", "mailto")):
                continue
            folder, _, picture = address.rpartition("/")
            if folder == f"{HOME}images":
                assert picture in PICTURES, (own, address)
                continue
            path, _, fragment = address.partition("#")
            assert (path or own) in bodies, (own, address)
            assert not fragment or f'id="{fragment}"' in bodies[path or own], (own, address)
            checked += 1
    assert checked > 300


def test_the_page_has_tables_code_headings_and_one_title(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}explanation/layers/").content.decode()

    assert "<th>path</th>" in page
    assert '<pre tabindex="0"><code>' in page
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
        "explanation/layers.md",
        "layers",
        "openapi",
        "how-to/index",
        "explanation/layers/x",
        "development/architecture",
    ],
)
def test_what_is_no_page_is_not_found(signed_in: SignedIn, name: str) -> None:
    assert signed_in().get(f"{HOME}{name}/").status_code == 404


@pytest.mark.parametrize("name", ["review.webp", "screens/home-dark.webp"])
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
    monkeypatch.setattr(views, "DOCS", tmp_path)
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
        "[a](layers.md) [b](layers.md#paths) [c](#here) [d](https://example.com) [e](../openapi.yaml)"
        " [f](../README.md) [g](nothing.md) [h](/admin/logout/) [i](//example.com/x) [j](./layers.md)"
        " [k](../admin/review.md) [l](../how-to/index.md) [m](../index.md) [n](/explanation/layers.md)"
    )

    html = rendered(tmp_path, text)

    leads = dict(re.findall(r'<a href="([^"]*)"[^>]*>(\w)</a>', html))
    assert {letter: address for address, letter in leads.items()} == {
        "b": "/admin/help/explanation/layers/#help-paths",
        "c": "#help-here",
        "d": "https://example.com",
        "i": "//example.com/x",
        "j": "/admin/help/explanation/layers/",
        "k": "/admin/help/admin/review/",
        "l": "/admin/help/how-to/",
        "m": "/admin/help/index/",
    }
    assert html.count('href="/admin/help/explanation/layers/"') == 2
    assert all(f">{letter}</a>" in html for letter in "efghn")


def test_pictures_come_from_their_folder(tmp_path: Path) -> None:
    html = rendered(
        tmp_path,
        "![a](../images/review.webp) ![b](https://example.com/x.png) ![c](../images/../../x.png)",
    )

    assert re.findall(r'src="([^"]*)"', html) == ["/admin/help/images/review.webp"]


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

    assert not re.search(r"<(script|iframe|form|button)|\son|style=|class=|=.javascript:|id=", html)


def test_the_policy_of_the_page_is_strict(signed_in: SignedIn) -> None:
    answer: Any = signed_in().get(HOME)

    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]


def test_a_page_is_named_by_its_heading(tmp_path: Path) -> None:
    (tmp_path / "admin").mkdir()
    (tmp_path / "how-to").mkdir()
    (tmp_path / "index.md").write_text("# Product")
    (tmp_path / "how-to/index.md").write_text(
        "# How to …\n\n[Things](b.md#here), [more](../index.md)"
    )
    (tmp_path / "how-to/b.md").write_text("# Things\n\ntext")
    (tmp_path / "how-to/a.md").write_text("no heading")
    (tmp_path / "admin/index.md").write_text("# For editors")

    found = pages(tmp_path).values()

    assert [(page.name, page.title, page.folder) for page in found] == [
        ("admin", "For editors", "For editors"),
        ("index", "Product", "Product"),
        ("how-to", "How to …", "How to …"),
        ("how-to/b", "Things", "How to …"),
        ("how-to/a", "a", "How to …"),
    ]


def test_pages_lead_to_the_one_before_and_the_one_after(signed_in: SignedIn) -> None:
    client = signed_in()

    first, second, last = (
        dict(re.findall(r'rel="(prev|next)" href="([^"]*)"', client.get(path).content.decode()))
        for path in (HOME, f"{HOME}admin/inbox/", f"{HOME}admin/your-account/")
    )

    assert first == {"next": f"{HOME}admin/inbox/"}
    assert second == {"prev": f"{HOME}admin/", "next": f"{HOME}admin/review/"}
    assert last == {"prev": f"{HOME}admin/structure/"}


def test_the_contents_name_every_heading_below_the_title(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}admin/inbox/").content.decode()
    contents = page.partition('aria-label="On this page"')[2].partition("</nav>")[0]

    assert re.findall(r'class="level-(\d)"><a href="#([^"]*)">([^<]*)<', contents) == [
        ("2", "help-home", "Home"),
        ("2", "help-inbox", "Inbox"),
        ("3", "help-like-changes-together", "Like changes, together"),
        ("3", "help-many-changes", "Many changes"),
        ("2", "help-where-the-list-comes-from", "Where the list comes from"),
    ]
    body = page.partition("<article")[2]
    assert 'id="help-like-changes-together"' in body


def test_an_image_has_its_size_so_that_the_text_below_stays_in_place(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}admin/inbox/").content.decode()
    with Image.open(DOCS / "images/home.webp") as image:
        width, height = image.size

    tag = re.search(r'<img[^>]*src="/admin/help/images/home.webp"[^>]*>', page)

    assert tag
    assert f'width="{width}"' in tag[0]
    assert f'height="{height}"' in tag[0]


@pytest.mark.parametrize("path", [HOME, f"{HOME}admin/review/", f"{HOME}search/?q=review"])
def test_the_help_itself_needs_no_queries(signed_in: SignedIn, path: str) -> None:
    # The frame of the admin needs two: the user, and the number of waiting changes.
    assert page_queries(signed_in(), path) == 2
