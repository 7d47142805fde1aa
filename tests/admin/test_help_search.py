from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from cms_project.help.pages import DOCS, pages
from cms_project.help.search import MAX_RESULTS, search

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
SEARCH = "/admin/help/search/"
GERMAN = {"Accept-Language": "de"}


def found(docs: Path, query: str) -> list[tuple[str, str]]:
    return [(result.page.name, result.title) for result in search(pages(docs).values(), query)]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for folder in ("admin", "reference"):
        (tmp_path / folder).mkdir()
    (tmp_path / "reference/index.md").write_text("# Reference\n\n## Redirects\n\nA redirect.\n")
    (tmp_path / "admin/index.md").write_text(
        "# For editors\n\nA **redirect** leads on.\n\n## Trash\n\nDeleted [posts](x.md#redirect).\n\n"
        "```console\n# no heading: backup\n```\n\n## Redirects of pages\n\n| a | b |\n|---|---|\n| c | d |\n"
        "\n## A list of unredirected pages\n"
    )
    return tmp_path


def test_sections_with_all_words_are_found_headings_first_and_editors_pages_first(
    docs: Path,
) -> None:
    assert found(docs, "redirect") == [
        ("admin", "Redirects of pages"),
        ("admin", "For editors"),
        ("admin", "A list of unredirected pages"),
        ("reference", "Redirects"),
    ]
    assert found(docs, "LEADS redirect") == [("admin", "For editors")]
    assert found(docs, "editors deleted") == [("admin", "Trash")]
    assert found(docs, "backup") == [("admin", "Trash")]
    assert found(docs, "leads nowhere") == []
    assert found(docs, "  ") == []


def test_the_excerpt_is_the_text_around_the_word_without_marks(docs: Path) -> None:
    (docs / "admin/index.md").write_text(f"# Page\n\n{'word ' * 80}the **Needle** {'more ' * 80}")

    (result,) = search(pages(docs).values(), "needle")

    text = "".join(piece for piece, _ in result.excerpt)
    assert [piece for piece, is_match in result.excerpt if is_match] == ["Needle"]
    assert (text[:7], text[-7:]) == ("… word ", " more …")
    assert "word the Needle more" in text
    assert len(text) < 200


def test_the_page_links_to_the_sections_and_marks_the_words(signed_in: SignedIn) -> None:
    page = signed_in().get(SEARCH, {"q": "focal point"}).content.decode()

    assert 'value="focal point"' in page
    assert 'href="/admin/help/admin/media-library/#help-one-file"' in page
    assert "<mark>Focal</mark> <mark>point</mark>" in page


def test_a_german_reader_searches_the_german_pages(signed_in: SignedIn) -> None:
    page = signed_in().get(SEARCH, {"q": "Bildfokus"}, headers=GERMAN).content.decode()

    assert '<li lang="de"><a href="/admin/help/admin/media-library/#help-one-file">' in page
    assert "<mark>Bildfokus</mark>" in page


@pytest.mark.parametrize("query", ["", "xyzzy", "<script>alert(1)</script>", "a" * 5000, "(", "\\"])
def test_any_query_is_answered(signed_in: SignedIn, query: str) -> None:
    answer = signed_in().get(SEARCH, {"q": query})

    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()


def test_no_more_than_the_limit_is_listed(signed_in: SignedIn) -> None:
    page = signed_in().get(SEARCH, {"q": "e"}).content.decode()

    assert len(re.findall(r'<li lang="en"><a', page)) == MAX_RESULTS


@pytest.mark.parametrize("role", [None, "ai_agent"])
def test_only_people_who_work_here_search(signed_in: SignedIn, role: str | None) -> None:
    client = signed_in(role) if role else Client()

    assert client.get(SEARCH, {"q": "review"})["Location"].startswith("/admin/login/")


def test_every_word_of_a_heading_finds_its_section() -> None:
    all_pages = pages(DOCS).values()

    assert ("admin/review", "Every difference is shown") in [
        (result.page.name, result.title) for result in search(all_pages, "every difference shown")
    ]
