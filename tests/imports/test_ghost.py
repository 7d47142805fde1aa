"""An export of Ghost 5.130 becomes posts, pages, tags, files, menus and redirects; old formats are read too.

Ghost wrote the export. Its own sample posts, its keys and its settings are not in it.
"""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom.core.errors import RuleViolation
from proofroom.taxonomies.models import Term
from proofroom_apps.imports import record_files
from proofroom_apps.imports.content_source import ImportOptions
from proofroom_apps.imports.ghost_content import GhostContent
from proofroom_apps.imports.importers import ghost
from proofroom_apps.imports.importers.ghost import GhostReader
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.menus.models import Menu
from seo.models import Redirect
from tests import make
from tests.imports.command import call_import

pytestmark = pytest.mark.django_db
EXPORT: Final = Path(__file__).parent / "exports" / "ghost"
ALLOWED: Final = frozenset({"prose", "gallery", "embed", "accordions"})


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def run(path: Path, **options: Any) -> str:
    out = StringIO()
    call_import("ghost", str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


def types_of(post: Post) -> list[str]:
    return [module.type for module in load(post).modules]


def test_posts_pages_tags_files_menus_and_redirects_come_in() -> None:
    said = run(EXPORT, fetch=False, site="http://127.0.0.1:2369")

    posts = {post.slug: post for post in Post.objects.all()}
    assert {"pour-slowly", "light-roast", "milk", "about-us"} <= set(posts)
    assert {posts[slug].type for slug in ("pour-slowly", "light-roast", "milk")} == {"blog"}
    assert posts["about-us"].type == "page"
    assert {post.status for post in posts.values()} == {"draft"}
    slow = posts["pour-slowly"]
    assert slow.title == "Pour slowly"
    assert slow.excerpt == "Why the stream of water should be thin."
    assert slow.meta_title == "Pour slowly | Guide"
    assert slow.published_at is not None
    assert slow.published_at.isoformat().startswith("2025-03-04T09:30")
    assert set(slow.post_terms.values_list("term__name", flat=True)) == {"Guides", "Water"}
    assert (
        Term.objects.get(slug="guides", taxonomy="tags").description == "How to brew, step by step."
    )
    assert slow.featured_media is not None
    assert slow.featured_media.alt_text == "A steel kettle with a thin spout"
    assert slow.featured_media.description == "On the stove"
    assert Asset.objects.count() == 3
    assert Menu.objects.filter(slug="main").exists()
    assert Redirect.objects.filter(from_path="/pour-slowly").exists()
    assert Redirect.objects.get(from_path="/slow").to_path == slow.path
    for line in (
        "Internal tags, left out: #no-newsletter.",
        "In the source it was for members only",
        "It was featured in the source.",
        "Redirects of patterns, left out: ^/tag-archive/(.*)$.",
    ):
        assert line in said, line


def test_lexical_cards_become_modules_and_text() -> None:
    run(EXPORT, fetch=False, site="http://127.0.0.1:2369")

    slow = Post.objects.get(slug="pour-slowly")
    assert types_of(slow) == ["prose", "accordions", "gallery", "prose", "embed", "prose"]
    modules = load(slow).modules
    text = json.dumps(modules[0].props)
    light = Post.objects.get(slug="light-roast")
    assert light.path in text
    assert '"type": "bold"' in text
    assert "/media/" in text
    assert "A thin " in text
    assert "Never pour on the paper." in text
    assert len(modules[2].props["items"]) == 2
    rest = json.dumps(modules[3].props)
    assert "Water for coffee" in rest
    assert "ratio = 60 / 1000" in rest
    assert "blockquote" in json.dumps(modules[5].props)


def test_mobiledoc_keeps_marks_links_cards_and_lists() -> None:
    run(EXPORT, fetch=False, site="http://127.0.0.1:2369")

    light = Post.objects.get(slug="light-roast")
    text = json.dumps(load(light).modules[0].props)
    for part in (
        "Less heat",
        '"type": "hardBreak"',
        '"href": "/blog/pour-slowly"',
        "orderedList",
        "bulletList",
        "Not burnt.",
        '"type": "table"',
        "horizontalRule",
        "Beans before the roast",
    ):
        assert part in text, part


def test_a_second_run_changes_nothing() -> None:
    run(EXPORT, fetch=False, site="http://127.0.0.1:2369")
    run(EXPORT, fetch=False, site="http://127.0.0.1:2369")

    counts = ImportRun.objects.latest("created_at").counts
    assert {outcome for kind in counts.values() for outcome in kind} == {"unchanged"}


def test_the_export_of_a_folder_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def read_text(path: Path) -> str:
        read.append(path)
        return record_files.read_text(path)

    monkeypatch.setattr(ghost, "read_text", read_text)

    reader = GhostReader(EXPORT, ImportOptions())

    assert reader.posts
    assert len(read) == 1


def test_a_later_export_of_the_same_site_is_the_same_source(tmp_path: Path) -> None:
    [file] = EXPORT.glob("*.json")
    for day in ("2026-11-29", "2026-12-24-08-00-00"):
        later = tmp_path / f"small-roastery.ghost.{day}.json"
        later.write_text(file.read_text())
        run(later, name=later.name, fetch=False)

    assert ImportRun.objects.latest("created_at").scope == "small-roastery.json"
    assert ImportRun.objects.latest("created_at").counts["posts"] == {"unchanged": 4}


def content(**post: Any) -> tuple[str, str]:
    """Return the modules and the remarks of a post, as text."""
    reading = GhostContent(ALLOWED)
    reading.read(post)
    modules = reading.builder.finish()
    said = " ".join(remark.message for remark in reading.remarks("x"))
    return json.dumps([[one.type, one.props] for one in modules]), said


@pytest.mark.parametrize(
    ("card", "parts"),
    [
        ({"type": "header", "heading": "Big", "subheading": "Small", "buttonText": "Go", "buttonUrl": "https://a.example/"},
         ("Big", "Small", "https://a.example/", "card header (1)")),
        ({"type": "product", "productTitle": "Scale", "productDescription": "<p>0.1 g</p>", "productImageSrc": "https://a.example/s.png"},
         ("Scale", "0.1 g", "https://a.example/s.png", "card product (1)")),
        ({"type": "email", "html": "<p>Only mail</p>"}, ("which only newsletters show",)),
        ({"type": "paywall"}, ("paywall",)),
        ({"type": "audio", "src": "https://a.example/a.mp3", "title": "Talk"}, ("Talk", "https://a.example/a.mp3")),
        ({"type": "markdown", "markdown": "**a**"}, ('"bold"',)),
        ({"type": "unheard-of", "words": "kept"}, ("kept", "node unheard-of (1)")),
    ],
)  # fmt: skip
def test_other_cards_keep_their_words(card: dict[str, Any], parts: tuple[str, ...]) -> None:
    found, said = content(lexical=json.dumps({"root": {"children": [card], "type": "root"}}))

    for part in parts:
        assert part in found + said, (part, found, said)


def test_html_is_read_if_there_is_nothing_else() -> None:
    assert "Only HTML" in content(html="<p>Only HTML</p>")[0]
    assert "Only HTML" in content(html="<p>Only HTML</p>", lexical="not json", mobiledoc="{}")[0]


@pytest.mark.parametrize(
    "mobiledoc",
    [
        {"sections": [[10, 99], [10, -5], [1, "p", [[0, [7, "x"], 9, "words"]]], [3], [], [1], ["x"]]},
        {"sections": [[1, "p", [[1, [], 0, 4], [0, [0], 1, "words"]]]], "markups": [["script"], ["a"]], "atoms": []},
        {"sections": [[10, 0], [1, "p", [[0, [], 0, "words"]]]], "cards": [["image"]]},
    ],
)  # fmt: skip
def test_broken_mobiledoc_loses_only_its_broken_parts(mobiledoc: Any) -> None:
    assert "words" in content(mobiledoc=json.dumps(mobiledoc))[0]


@pytest.mark.parametrize(
    "mobiledoc",
    [
        {"sections": [[1, "p", [[0, [0], 1, "x"]] * 20]], "markups": [["a", ["href", "/" + "x" * 60]]]},
        {"sections": [[1, "p", [[1, [], 0, 0]] * 20]], "atoms": [["mention", "x" * 60, {}]]},
        {"sections": [[10, 0]] * 20, "cards": [["html", {"html": "x" * 60}]]},
    ],
    ids=["markup", "atom", "card"],
)  # fmt: skip
def test_parts_of_mobiledoc_repeated_without_end_are_refused(
    mobiledoc: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert content(mobiledoc=json.dumps(mobiledoc))
    monkeypatch.setattr("proofroom_apps.imports.ghost_content.MAX_CHARACTERS", 1000)

    with pytest.raises(RuleViolation, match="larger than"):
        content(mobiledoc=json.dumps(mobiledoc))


def test_deep_lexical_is_a_problem_of_one_post(tmp_path: Path) -> None:
    node: Any = {"type": "extended-text", "text": "x"}
    for _level in range(200):
        node = {"type": "paragraph", "children": [node]}
    data = {
        "posts": [
            {"id": "1", "title": "Deep", "slug": "deep", "lexical": json.dumps({"root": {"children": [node]}})},
            {"id": "2", "title": "Flat", "slug": "flat", "html": "<p>x</p>"},
        ]
    }  # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"db": [{"data": data}]}))

    said = run(path)

    assert "nested too deeply" in said
    assert Post.objects.get().title == "Flat"


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"db": []}', '{"db": [{"data": {}}]}', '{"db": [{"data": []}]}', "[" * 100_000],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(CommandError):
        run(path)
    with pytest.raises(CommandError, match="Ghost export"):
        run(tmp_path)
