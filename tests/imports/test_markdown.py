"""Folders of Markdown become drafts, once, and a bad file affects no other."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from content.document.post_fields import POST_FIELDS
from content.layers import open_layers
from content.models import Post
from content.store.post_repository import load
from proofroom.definitions.richtext.nodes import to_text
from proofroom_apps.imports.models import ImportLine
from seo.models import Redirect
from tests import make
from tests.imports.markdown_files import blocks, heading_levels, links, paths, run, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]
DOCUMENTS = Path(__file__).parents[3] / "shared" / "data" / "markdown"
"""Documents of real products. They are not part of the project; they are next to the checkout."""


@pytest.mark.skipif(
    not DOCUMENTS.is_dir(),
    reason="The documents that this test reads are not in ../shared/data here.",
)
def test_the_documents_of_two_products_become_drafts_and_a_second_run_makes_none():
    number = len(list(DOCUMENTS.rglob("*.md")))

    first = run(DOCUMENTS)

    assert number > 80
    assert f"posts: {number + 2} created" in first[-1]  # and the two folders
    assert Post.objects.count() == number + 2
    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}
    assert Post.objects.filter(path="/monitoring-docs/bash", title="Shell Scripts").exists()
    folder = Post.objects.get(path="/monitoring-docs")
    assert Post.objects.filter(parent=folder).count() == len(
        list((DOCUMENTS / "monitoring-docs").glob("*.md"))
    )

    # Pages show their titles themselves, so no text has a heading of level 1.
    levels = set().union(*map(heading_levels, Post.objects.all()))
    assert levels == {2, 3, 4}

    second = run(DOCUMENTS)

    assert f"posts: {number + 2} unchanged" in second[-1]
    assert Post.objects.count() == number + 2


def test_the_title_is_that_of_the_front_matter_the_first_heading_or_the_name(tmp_path):
    write(
        tmp_path,
        {
            "a.md": "---\ntitle: From the front\nslug: own-slug\ndescription: Short\norder: 3\n---\n"
            "# Heading\n\nText",
            "b.md": "# The *first* heading\n\nText",
            "c.md": "Text\n\n## Later heading\n\nMore",
            "some-plain_file.md": "Only text",
            "year.md": "---\ntitle: 2024\n---\nText",
            "rule.md": "---\n\nText below a rule",
        },
    )

    run(tmp_path)

    found = {post.slug: post for post in Post.objects.all()}
    assert {slug: post.title for slug, post in found.items()} == {
        "own-slug": "From the front",
        "b": "The first heading",
        "c": "Later heading",
        "some-plain-file": "Some plain file",
        "year": "2024",
        "rule": "Rule",
    }
    assert found["own-slug"].meta_description == "Short"
    assert found["own-slug"].order_index == 3
    assert blocks(found["own-slug"]) == ["heading", "paragraph"]
    assert heading_levels(found["own-slug"]) == {2}
    assert blocks(found["b"]) == ["paragraph"]  # the page shows its title itself
    assert blocks(found["c"]) == ["paragraph", "heading", "paragraph"]


def test_sub_folders_become_parents_named_by_their_own_page(tmp_path):
    write(
        tmp_path,
        {
            "guide.md": "# The guide",
            "guide/setup.md": "# Setup",
            "guide/deep/one.md": "# One",
            "manual/index.md": "# The manual",
            "manual/setup.md": "# Setup again",
            "empty/notes.txt": "no document",
        },
    )

    said = run(tmp_path)

    assert paths() == [
        "/guide", "/guide/deep", "/guide/deep/one", "/guide/setup", "/manual", "/manual/setup",
    ]  # fmt: skip
    assert Post.objects.get(path="/guide/deep").title == "Deep"
    assert said[-1] == "posts: 6 created."
    assert run(tmp_path)[-1] == "posts: 6 unchanged."


def test_a_flat_type_takes_the_files_of_all_folders(tmp_path):
    write(tmp_path, {"one.md": "# One", "sub/two.md": "# Two"})

    run(tmp_path, type="blog", locale="de")

    assert paths() == ["/de/blog/one", "/de/blog/two"]


def test_a_bad_file_is_named_and_the_rest_goes_on(tmp_path):
    write(
        tmp_path,
        {
            "a-bytes.md": b"\xff\x00\x00 not text",
            "b-yaml.md": "---\ntitle: [\n---\nText",
            "c-list.md": "---\n- one\n---\nText",
            "d-long.md": f"---\ntitle: {'x' * 400}\n---\nText",
            "e-huge.md": "word " * 500_000,
            "f-good.md": "# Good\x00",
            "g-old.md": "# Größe".encode("cp1252"),
        },
    )

    said = run(tmp_path)

    assert paths() == ["/d-long", "/f-good", "/g-old"]
    assert Post.objects.get(path="/g-old").title == "Größe"
    assert Post.objects.get(path="/d-long").title == "x" * 300
    assert said[-1] == "items: 4 failed; posts: 3 created."
    lines = dict(ImportLine.objects.values_list("place", "message"))
    assert "not text" in lines["a-bytes.md"]
    assert "not valid YAML" in lines["b-yaml.md"]
    assert "names with values" in lines["c-list.md"]
    assert "larger than 2 MB" in lines["e-huge.md"]


def test_what_cannot_begin_says_why(tmp_path):
    make.user("translator")
    for arguments, words in (
        ({"folder": str(tmp_path / "none")}, "is not a folder"),
        ({"locale": "fr"}, "not a language of this site"),
        ({"type": "pgae"}, "no post type named 'pgae'"),
        ({"media": str(tmp_path / "none")}, "is not a folder"),
        ({"email": "translator@example.com"}, "posts.create"),
    ):
        with pytest.raises(CommandError, match=words):
            run(Path(arguments.pop("folder", str(tmp_path))), **arguments)


def test_the_earlier_command_still_works(tmp_path):
    write(tmp_path, {"one.md": "# One"})

    call_command("import", "markdown", str(tmp_path), type="blog", locale="de", stdout=StringIO())

    assert paths() == ["/de/blog/one"]


def test_a_text_that_changed_is_proposed_in_review(tmp_path):
    write(tmp_path, {"one.md": "# One\n\nFirst."})
    run(tmp_path)

    write(tmp_path, {"one.md": "# One\n\nSecond."})
    said = run(tmp_path)

    assert said[-1] == "posts: 1 staged."
    post = Post.objects.get()
    assert "First." in str(load(post).modules[0].props)
    assert "Second." in str(open_layers(post).review.document.modules[0].props)


def test_an_existing_post_at_the_path_is_matched(tmp_path):
    there = make.post("One", type="page", slug="one")
    write(tmp_path, {"one.md": "# One\n\nFrom a file."})

    run(tmp_path)

    assert Post.objects.get().pk == there.pk
    assert "From a file." in str(open_layers(there).review.document.modules)


def test_folders_and_names_of_a_language_are_translations(tmp_path):
    write(
        tmp_path,
        {
            "en/guide/tea.md": "# Tea\n\n[water](/guide/water/) [also](../guide/water.md)",
            "en/guide/water.md": "# Water",
            "de/guide/tea.md": "# Tee\n\n[wasser](/de/guide/water/)",
            "de/guide/water.md": "# Wasser",
            "about.md": "# About",
            "about.de.md": "# Über",
        },
    )

    said = run(tmp_path)

    assert paths() == [
        "/about", "/de/about", "/de/guide", "/de/guide/tea", "/de/guide/water",
        "/guide", "/guide/tea", "/guide/water",
    ]  # fmt: skip
    for path in ("/about", "/guide", "/guide/tea"):
        one, other = Post.objects.get(path=path), Post.objects.get(path=f"/de{path}")
        assert one.translation_group == other.translation_group, path
    assert links("/guide/tea") == ["/guide/water", "/guide/water"]
    assert links("/de/guide/tea") == ["/de/guide/water"]
    assert not [line for line in said if "does not match any post" in line]
    assert run(tmp_path)[-1] == "posts: 8 unchanged."


def test_authors_comments_and_values_that_fit_nowhere_are_named(tmp_path):
    anna = make.user("editor", "anna.writes")
    write(
        tmp_path,
        {
            "authors.yml": f"anna:\n  name: Anna W.\n  email: {anna.email}\nbo:\n  name: Bo\n",
            "one.md": "---\ntitle: One\nauthors: [anna, bo]\ntags: [tea, {odd: 1}]\nimage: [a.png]\n"
            "order: first\npermalink: /:year/one\n---\nText <!-- hidden --> here.\n\n<!-- more\nlines -->\n\n"
            "<script>x()</script>\n\n![Drawn](data:image/png;base64,AAAA)\n",
            "two.mdx": "---\ntitle: Two\nauthor: Cy <cy@else.example>\n---\n{/* private */}\n\nText\n",
            "2020-01-02-three.md": "---\nauthor: {name: Di, url: 'https://else.example'}\n---\nText\n",
            "broken.yml": "a: [",
        },
    )

    said = "\n".join(run(tmp_path))

    assert Post.objects.get(title="One").author == anna
    for part in (
        "Author in the source: Bo.",
        "No account has the author’s email address cy@else.example",
        "Author in the source: Di.",
        "tags cannot store ['tea', {'odd': 1}]",
        "image cannot store ['a.png']",
        "order cannot store first",
        "permalink cannot store /:year/one",
        "comment <!-- … --> (2), element <script> (1), picture without an address of its own (1)",
        "comment {/* … */} (1)",
        "Posts of type page have no tags; 1 left out.",
    ):
        assert part in said, part
    three = Post.objects.get(title="Three")
    assert (three.slug, three.published_at) == ("three", datetime(2020, 1, 2, tzinfo=UTC))


def test_a_site_of_docusaurus_keeps_its_folders_and_addresses(tmp_path):
    write(
        tmp_path,
        {
            "guides/_category_.json": '{"label": "How to", "position": 4, '
            '"link": {"type": "generated-index", "description": "All of them"}}',
            "guides/brew.mdx": "---\nid: brewing\nslug: /tea/brew\nsidebar_position: 2\ntitle: Brew\n---\n"
            "See [the intro](../intro.md).\n",
            "intro.md": "---\ntitle: Intro\n---\nTo [brew](/tea/brew), [by its id](guides/brewing).\n",
        },
    )

    lines = "\n".join(run(tmp_path))

    folder = Post.objects.get(title="How to")
    assert (folder.slug, folder.order_index) == ("guides", 4)
    assert folder.meta_description == "All of them"
    brew = Post.objects.get(title="Brew")
    assert (brew.parent, brew.order_index) == (folder, 2)
    content = str(load(Post.objects.get(title="Intro")).modules[0].props)
    assert content.count(f"'{brew.path}'") == 2
    assert "does not match any post" not in lines


def test_the_folders_around_a_site_of_astro_are_no_pages(tmp_path):
    write(
        tmp_path,
        {
            "src/content/docs/en/index.mdx": "---\ntitle: Start\n---\n[Guide](/en/guides/tea/)\n",
            "src/content/docs/en/guides/tea.mdx": "---\ntitle: Tea\n---\n"
            "import { Steps } from 'x';\n\n<Steps>\n1. Boil\n</Steps>\n",
            "src/content/docs/de/guides/tea.mdx": "---\ntitle: Tee\n---\nText\n",
        },
    )

    said = run(tmp_path)

    tea, tee = Post.objects.get(title="Tea"), Post.objects.get(title="Tee")
    assert (tea.parent.title, tea.parent.parent) == ("Guides", None)
    assert (tee.locale, tee.translation_group) == ("de", tea.translation_group)
    assert set(Post.objects.filter(parent=None).values_list("title", flat=True)) == {
        "Start", "Guides",
    }  # fmt: skip
    assert tea.path in str(load(Post.objects.get(title="Start")).modules[0].props)
    assert "component <Steps> (1)" in "\n".join(said)


def test_a_very_long_page_goes_on_in_a_second_module(tmp_path):
    item = (
        "- [#1234](https://github.example/products/kettle/issues/1234) **boils** `water` faster\n"
    )
    write(tmp_path, {"page.md": "# Page\n\n" + (item * 200 + "\nNext part.\n\n") * 10})

    run(tmp_path)

    modules = load(Post.objects.get()).modules
    assert len(modules) > 1
    assert {module.type for module in modules} == {"prose"}
    assert sum(to_text(module.props["content"]).count("boils") for module in modules) == 2000


def test_a_page_named_like_its_folder_becomes_the_folders_page(tmp_path):
    write(
        tmp_path,
        {
            "news/news.md": "---\npermalink: /news/\n---\n# All news\n\n[One](one.md)",
            "news/one.md": "# One\n\n[All](/news/) and [all](news.md)",
        },
    )

    said = run(tmp_path)

    assert paths() == ["/news", "/news/one"]
    assert links("/news/one") == ["/news", "/news"]
    assert links("/news") == ["/news/one"]
    assert not Redirect.objects.exists()
    assert said[-1].startswith("posts: 2 created")
    assert "posts: 2 unchanged" in run(tmp_path)[-1]


def test_texts_are_cut_where_the_site_takes_fewer_characters(tmp_path: Path) -> None:
    fields = [field for field in POST_FIELDS.values() if field.is_text and field.max_length]
    named = [field for field in fields if field.kind != "url"]
    matter = "".join(f"{field.name}: {'x' * (field.max_length + 1)}\n" for field in named)
    write(tmp_path, {"long.md": f"---\n{matter}---\nWords."})

    run(tmp_path)

    (post,) = Post.objects.all()
    stored = load(post).fields
    assert len(named) >= 4
    assert {name: len(stored[name]) for name in (one.name for one in named)} == {
        field.name: field.max_length for field in named
    }
