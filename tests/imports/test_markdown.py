"""Folders of Markdown become drafts with their pictures and links, once, and one bad file harms no other."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from content.layers import open_layers
from content.models import Post
from content.posts.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.nodes import to_text
from proofroom.imports.models import ImportLine
from seo.models import Redirect
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENTS = Path(__file__).parents[3] / "shared" / "data" / "markdown"
"""Documents of real products. They are not part of the project: they lie beside the checkout."""


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def run(folder: Path, **options: str) -> list[str]:
    out = StringIO()
    call_command("import", "markdown", str(folder), stdout=out, stderr=out, **options)
    return out.getvalue().splitlines()


def paths() -> list[str]:
    return sorted(Post.objects.values_list("path", flat=True))


def blocks(post: Post) -> list[str]:
    module = load(post).modules[0]
    assert module.type == "prose"
    return [str(block["type"]) for block in module.props["content"]["content"]]


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


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write(tmp_path, {"out/secret.md": "# Secret", "in/one.md": "# One"})
    (tmp_path / "in/link.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")

    run(tmp_path / "in")

    assert paths() == ["/one"]


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

    call_command("import_markdown", str(tmp_path), type="blog", locale="de", stdout=StringIO())

    assert paths() == ["/de/blog/one"]


def test_links_between_files_lead_to_the_posts_and_dead_ones_are_named(tmp_path):
    write(
        tmp_path,
        {
            "index.md": "[a](guide/setup.md#first) [b](guide/) [c](./guide/deep/one.html) [d](missing.md)",
            "guide/index.md": "# Guide\n\n[up](../index.md) [there](setup) [role]({doc}`setup`)",
            "guide/setup.md": "# Setup\n\nSee {doc}`deep/one` and [abs](/guide/deep/one).",
            "guide/deep/one.md": "# One\n\n[back](../../guide/setup.md) [out](https://else.example/guide.md)",
        },
    )

    said = run(tmp_path)

    assert links("/index") == ["/guide/setup#first", "/guide", "/guide/deep/one", "missing.md"]
    assert links("/guide")[:2] == ["/index", "/guide/setup"]
    assert links("/guide/setup") == ["/guide/deep/one", "/guide/deep/one"]
    assert links("/guide/deep/one") == ["/guide/setup", "https://else.example/guide.md"]
    assert [line for line in said if "missing.md does not match any post" in line]


def test_numbers_that_order_files_are_no_part_of_links(tmp_path):
    write(
        tmp_path,
        {
            "developers--01-start--02-first.md": "[x](03-next.md) [y](/docs/developers/start/next) [z](04-roles.md)",
            "developers--01-start--03-next.md": "# Next",
            "editors--04-roles.md": "# Roles",
        },
    )

    run(tmp_path)

    there = "/developers-01-start-03-next"
    assert links("/developers-01-start-02-first") == [there, there, "/editors-04-roles"]


def test_pictures_come_into_the_library_once(tmp_path):
    picture = make.picture()
    write(
        tmp_path,
        {
            "guide/one.md": "---\nimage: /img/cover.png\n---\n# One\n\n![Alt](pic.png)\n\n"
            '<p align="center"><img src="../img/cover.png" alt="Cover" width="40"></p>\n\n![Gone](gone.png)',
            "guide/pic.png": picture,
            "img/cover.png": make.picture(colour="red"),
            "guide/two.md": "![Same](../img/same.png)",
            "img/same.png": picture,
        },
    )

    said = run(tmp_path)

    assert Asset.objects.count() == 2
    post = Post.objects.get(path="/guide/one")
    assert post.featured_media.filename == "cover.png"
    text = str(load(post).modules[0].props)
    assert text.count("/media/") == 2
    assert "gone.png" not in text
    assert "Gone" in text
    assert [line for line in said if "gone.png" in line]
    run(tmp_path)
    assert Asset.objects.count() == 2


def test_what_is_not_understood_is_named(tmp_path):
    write(
        tmp_path,
        {
            "page.md": "---\nlayout: wide\n---\n# Page\n\n{py:class}`~pkg.Thing` and {ref}`Words <label>`.\n\n"
            "```{note}\nMind this.\n```\n\n```{graphviz}\na -> b\n```\n\n"
            "{{< youtube abc >}} [^1] <your-name>\n\n`{not}`a role`` and `{uuid}` stay\n\n"
            '!!! warning "Careful"\n    Indented text.\n\nDone.',
        },
    )

    run(tmp_path)

    lines = " ".join(ImportLine.objects.values_list("message", flat=True))
    for name in (
        "role {py:class} (1)", "role {ref} (1)", "directive {note} (1)", "directive {graphviz} (1)",
        "Hugo shortcode {{youtube}}", "footnote", "element <your-name>", "layout (1)",
    ):  # fmt: skip
        assert name in lines, name
    text = to_text(load(Post.objects.get()).modules[0].props["content"])
    for words in (
        "pkg.Thing",
        "Words",
        "Mind this.",
        "a -> b",
        "<your-name>",
        "Careful",
        "Indented text.",
        "{uuid}",
    ):
        assert words in text, words


def test_a_text_that_changed_is_proposed_in_review(tmp_path):
    write(tmp_path, {"one.md": "# One\n\nFirst."})
    run(tmp_path)

    write(tmp_path, {"one.md": "# One\n\nSecond."})
    said = run(tmp_path)

    assert said[-1] == "posts: 1 staged."
    post = Post.objects.get()
    assert "First." in str(load(post).modules[0].props)
    assert "Second." in str(open_layers(post).review.document.modules[0].props)


def test_a_post_that_stands_there_already_is_taken_for_the_same(tmp_path):
    there = make.post("One", type="page", slug="one")
    write(tmp_path, {"one.md": "# One\n\nFrom a file."})

    run(tmp_path)

    assert Post.objects.get().pk == there.pk
    assert "From a file." in str(open_layers(there).review.document.modules)


def links(path: str) -> list[str]:
    found: list[str] = []

    def walk(node: Any) -> None:
        for mark in node.get("marks", ()):
            if mark["type"] == "link":
                found.append(mark["attrs"]["href"])
        for child in node.get("content", ()):
            walk(child)

    for module in load(Post.objects.get(path=path)).modules:
        walk(module.props["content"])
    return found


def text_of(path: str) -> str:
    return "\n".join(
        to_text(one.props["content"]) for one in load(Post.objects.get(path=path)).modules
    )


def test_tabs_notes_and_definitions_keep_their_text_as_text(tmp_path):
    write(
        tmp_path,
        {
            "page.md": "# Page\n\n"
            '=== "Linux"\n\n    Run *this*.\n\n    ``` sh\n    make\n    ```\n\n'
            ":::tip[Take care]\nInside a box.\n:::\n\n> [!warning] Hot\n> Do not touch.\n\n"
            "Kettle\n: A vessel for water.\n: Also a valley.\n\n"
            "{% highlight ruby %}\nputs 1\n{% endhighlight %}\n\n$$\na_1 * b_1\n$$\n\n- [ ] open\n- [x] done\n",
        },
    )

    run(tmp_path)

    assert blocks(Post.objects.get()) == [
        "paragraph", "paragraph", "codeBlock", "blockquote", "blockquote", "paragraph", "paragraph",
        "paragraph", "codeBlock", "codeBlock", "bulletList",
    ]  # fmt: skip
    text = text_of("/page")
    for words in (
        "Linux", "Run this.", "Take care", "Inside a box.", "Hot", "A vessel for water.",
        "Also a valley.", "puts 1", "a_1 * b_1", "☐ open", "☑ done",
    ):  # fmt: skip
        assert words in text, words
    for sign in (":::", "===", "[!", "{%", "$$", "[x]"):
        assert sign not in text, sign


def test_components_show_their_titles_links_and_pictures(tmp_path):
    write(
        tmp_path,
        {
            "page.mdx": "import Tabs from '@theme/Tabs';\nexport const a = {\n  b: 1,\n};\n\n"
            "# Page\n\n{/* private */}\n\n"
            '<Tabs>\n  <TabItem label="npm">\n\n    ```sh\n    npm install\n    ```\n\n  </TabItem>\n</Tabs>\n\n'
            '<Card\n  title="The other"\n  href="./other"\n  description="More words"\n/>\n\n'
            'See <Link to="/other">that page</Link> <Badge text="new" />.\n\n'
            "<img src={require('./pic.png').default} alt='A kettle' />\n",
            "other.md": "# Other\n\nWrite <YourName> here.",
            "pic.png": make.picture(),
        },
    )

    said = " ".join(run(tmp_path))

    text = text_of("/page")
    for words in ("npm", "npm install", "More words", "that page", "new"):
        assert words in text, words
    for sign in ("import", "export", "private", "<", "TabItem"):
        assert sign not in text, sign
    assert "codeBlock" in blocks(Post.objects.get(path="/page"))
    assert links("/page") == ["/other", "/other"]
    assert Asset.objects.get().alt_text == "A kettle"
    assert "component <TabItem> (1)" in said
    assert "import or export of MDX (2)" in said
    assert "<YourName>" in text_of("/other")


def test_words_in_attributes_of_components_are_kept_or_named(tmp_path):
    write(
        tmp_path,
        {
            "page.mdx": "# Page\n\n"
            '<LinkCard title="Brew" description={`Slow and hot`} href="/other" badge="Fresh" icon="cup" />\n\n'
            '<Hero tagline="Calm" kicker="Made by hand" size="large" steps={[{ title: "Grind" }]} />\n\n'
            'Then <Card title="Beans" href="/other" note="Ripe">read on</Card> and '
            '<Badge text="new" aria-hidden="true" count={3} />.\n',
            "other.md": "# Other\n\nWords.",
        },
    )

    said = " ".join(run(tmp_path))

    text = text_of("/page")
    for words in (
        "Brew",
        "Slow and hot",
        "Calm",
        "Made by hand",
        "Beans",
        "Ripe",
        "read on",
        "new",
    ):
        assert words in text, words
    for words in ("cup", "large", "Grind"):
        assert words not in text, words
    assert links("/page") == ["/other", "/other"]
    for name in ("attribute badge of <LinkCard> (1)", "attribute steps of <Hero> (1)"):
        assert name in said, name
    for name in ("icon", "size", "count", "aria-hidden"):
        assert f"attribute {name}" not in said, name


def test_a_footnote_before_a_colon_is_named(tmp_path):
    write(
        tmp_path,
        {"page.md": "# Page\n\nThe default is `note`[^1]:\n\n  [^1]:\n    It was another one.\n"},
    )

    said = " ".join(run(tmp_path))

    assert "It was another one." in text_of("/page")
    assert "that nothing names" not in said


def test_footnotes_stand_at_the_end_and_labels_lead_to_their_pages(tmp_path):
    write(
        tmp_path,
        {
            "a.md": "# A\n\nWater[^b] and tea[^a], {ref}`there <brewing>`, [](#brewing) and [](b.md).\n\n"
            "[^a]: First.\n[^b]: Second\n    with more.\n",
            "b.md": "# B\n\n(brewing)=\n## Brewing tea\n\nText.",
        },
    )

    run(tmp_path)

    text = text_of("/a")
    assert "Water[1] and tea[2], there, B and B." in text
    assert text.index("with more.") < text.index("First.")
    assert links("/a") == ["/b#brewing", "/b#brewing", "/b"]
    assert "(brewing)=" not in text_of("/b")


def test_links_to_places_lead_to_the_headings_here_and_dead_ones_are_named(tmp_path):
    write(
        tmp_path,
        {
            "a.md": "# A\n\n[own](#what-s-kept), [custom](b.md#my-id), [slug](b.md#whats-new), "
            "[second](b.md#setup-1), [accents](b.md#uber-uns), [title](b.md#b), [html](b.md#byHand), "
            "[[b#What's new]], [gone](b.md#nowhere) and [here](#nor-here).\n\n## What’s kept",
            "b.md": "# B\n\n## Long words {#my-id}\n\n## What's new?\n\n## Setup\n\n## Setup\n\n"
            '## Über uns\n\n<h2 id="byHand">Other words</h2>\n\n> ### Quoted',
        },
    )

    said = run(tmp_path)

    assert links("/a") == [
        "#what-s-kept", "/b#long-words", "/b#what-s-new", "/b#setup-2", "/b#über-uns", "/b",
        "/b#other-words", "/b#what-s-new", "/b#nowhere", "#nor-here",
    ]  # fmt: skip
    named = [line for line in said if "a place that its page does not have here" in line]
    assert ["b.md#nowhere" in named[0], "#nor-here" in named[1], len(named)] == [True, True, 2]
    assert "my-id" not in str([one.props for one in load(Post.objects.get(path="/b")).modules])
    ids = "".join(
        to_html(one.props["content"], heading_ids=set())
        for one in load(Post.objects.get(path="/b")).modules
    )
    for link in links("/a"):
        if link.startswith("/b#") and "nowhere" not in link:
            assert f'id="{link.removeprefix("/b#")}"' in ids


def test_wiki_links_find_pages_and_pictures_by_their_names(tmp_path):
    write(
        tmp_path,
        {
            "Tea.md": "# Tea\n\n[[Green tea]] and [[Green tea#Leaves|leaves]], not [[Nowhere]].\n\n"
            "![[cup.png|200]]\n\n%%private%%",
            "kinds/Green tea.md": "# Green tea",
            "files/cup.png": make.picture(),
        },
    )

    run(tmp_path)

    assert links("/tea") == ["/kinds/green-tea", "/kinds/green-tea#Leaves"]
    assert "[[Nowhere]]" in text_of("/tea")
    assert "private" not in text_of("/tea")
    assert Asset.objects.get().filename == "cup.png"


def test_other_files_come_in_where_a_text_takes_them_in_and_are_named_else(tmp_path):
    write(
        tmp_path,
        {
            "guide/a.md": "# A\n\n```{include} ../parts/b.txt\n```\n\n"
            "```{literalinclude} x.py\n:language: python\n```\n\n"
            '--8<-- "gone.md"\n\n```{include} ../../secret.txt\n```\n',
            "parts/b.txt": "From *another* file.",
            "guide/x.py": "print(1)",
            "old.rst": "Old",
        },
    )
    (tmp_path.parent / "secret.txt").write_text("secret words")

    said = " ".join(run(tmp_path))

    text = text_of("/guide/a")
    assert "From another file." in text
    assert "print(1)" in text
    assert "secret words" not in text
    assert "file gone.md, which is not in the folder" in said
    assert ".rst (1)" in said


def test_front_matter_in_json_may_stand_in_one_line(tmp_path):
    write(
        tmp_path,
        {
            "a.md": '{"title": "One line"}\n\nText',
            "b.md": '{"not": "alone"} goes on\n',
            "c.md": "{{< x >}}\n",
        },
    )
    run(tmp_path)

    assert Post.objects.get(title="One line").path == "/a"
    assert text_of("/a") == "Text"
    assert "goes on" in text_of("/b")


def test_an_include_with_a_slash_is_looked_for_below_the_folders_above(tmp_path):
    write(
        tmp_path,
        {
            "en/guide/a.md": '# A\n\n{{% include "/_common/x.md" %}}\n',
            "en/_common/x.md": "Shared words",
        },
    )
    run(tmp_path)

    assert "Shared words" in text_of("/guide/a")


def test_a_file_that_includes_itself_ends(tmp_path):
    write(tmp_path, {"a.md": "# A\n\nOnce.\n\n```{include} a.md\n```\n\n```{include} a.md\n```\n"})

    assert run(tmp_path)[-1] == "posts: 1 created."


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


def test_front_matter_is_json_too_and_its_addresses_lead_to_the_page(tmp_path):
    write(
        tmp_path,
        {
            "a.md": '{\n  "title": "From {JSON}",\n  "weight": 4\n}\n\nText with [x](/old/place/) and '
            "[y]({{ '/own/' | relative_url }}) and [z]({% link b.md %}).",
            "b.md": "---\npermalink: /old/place/\n---\n# B",
            "2024-05-01-c.md": '---\nslug: own\n---\n# C\n\n[b]({{< ref "b.md" >}})',
        },
    )

    run(tmp_path)

    post = Post.objects.get(path="/a")
    assert (post.title, post.order_index) == ("From {JSON}", 4)
    assert links("/a") == ["/b", "/own", "/b"]
    assert links("/own") == ["/b"]


def test_the_words_of_drawings_are_kept(tmp_path):
    drawing = (
        '<svg viewBox="0 0 1 1"><title>Flow</title><path d="M0"/><text x="1">Tea in</text></svg>'
    )
    write(
        tmp_path,
        {"a.md": f"# A\n\n{drawing}\n\nInline <svg><text>cup</text></svg> drawing, <svg/> end.\n"},
    )

    said = " ".join(run(tmp_path))

    text = " ".join(text_of("/a").split())
    assert text == "Flow Tea in Inline cup drawing, end."
    assert "drawing <svg>" in said


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
        "No account has the author's email address cy@else.example",
        "Author in the source: Di.",
        "Date in the source: 2020-01-02.",
        "tags cannot hold ['tea', {'odd': 1}]",
        "image cannot hold ['a.png']",
        "order cannot hold first",
        "permalink cannot hold /:year/one",
        "comment <!-- … --> (2), element <script> (1), picture without an address of its own (1)",
        "comment {/* … */} (1)",
        "Posts of type page have no tags; 1 left out.",
    ):
        assert part in said, part
    assert Post.objects.get(title="Three").slug == "three"


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


def test_blocks_of_pymdown_and_titles_of_code_keep_their_words(tmp_path):
    write(
        tmp_path,
        {
            "page.md": "# Page\n\n/// tab | First tab\n    new: true\n\nIn the tab.\n\n"
            "//// note | Mind\nDeep.\n////\n///\n\n/// danger\nHot.\n///\n\n"
            '```py title="tea/kettle.py" hl_lines="2"\nboil()\n```\n\n/// never closed\n\nEnd.\n',
        },
    )

    run(tmp_path)

    text = to_text(load(Post.objects.get()).modules[0].props["content"])
    for words in (
        "First tab", "In the tab.", "Mind", "Deep.", "Danger", "Hot.", "tea/kettle.py", "boil()", "End.",
    ):  # fmt: skip
        assert words in text, words
    assert "new: true" not in text
    assert text.count("///") == 1
    said = " ".join(ImportLine.objects.values_list("message", flat=True))
    for name in ("block /// tab (1)", "block /// danger (1)", "options of a code block (1)"):
        assert name in said, name


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


def test_links_below_a_folder_whose_address_is_reserved_lead_to_the_posts(tmp_path):
    write(
        tmp_path, {"api/one.md": "# One\n\n[Two](two.md)", "api/two.md": "# Two\n\n[One](one.md)"}
    )

    run(tmp_path)

    two = Post.objects.get(title="Two")
    assert two.path == "/api-2/two"
    assert two.path in str(load(Post.objects.get(title="One")).modules[0].props)
    assert "posts: 3 unchanged" in run(tmp_path)[-1]


def test_a_page_before_a_folder_whose_address_is_reserved_links_to_where_it_will_stand(tmp_path):
    make.post("Taken", type="blog", slug="taken")
    make.post("Blog", type="page", slug="blog")
    write(
        tmp_path,
        {
            "a.md": "# A\n\n[Folder](api/) [Two](api/two.md) [Taken](blog/taken.md)",
            "api/index.md": "# Api\n\nWords",
            "api/two.md": "# Two\n\nWords",
            "blog/taken.md": "# Other\n\nWords",
        },
    )

    said = run(tmp_path)

    props = str(load(Post.objects.get(title="A")).modules[0].props)
    for title in ("Api", "Two", "Other"):
        assert f"'{Post.objects.get(title=title).path}'" in props, title
    assert Post.objects.get(title="Api").path == "/api-2"
    assert Post.objects.get(title="Other").path == "/blog/taken-2"
    for path, new in (("/api", "/api-2"), ("/blog/taken", "/blog/taken-2")):
        assert any(
            f"The address {path} is already in use, so the post is at {new}." in one for one in said
        )
    assert "unchanged." in run(tmp_path)[-1]


def test_a_page_with_the_name_of_its_folder_is_the_page_of_the_folder(tmp_path):
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


def test_values_of_the_front_matter_stand_where_a_text_names_them(tmp_path):
    head = "---\nexternal: https://else.example/x\nversion: 3\ntitle: Tea\nlist: [a]\n---\n"
    text = "[Read]({{ external }}) in {{ page.version }} of {{ $frontmatter.title }}, {{ list }}, `{{ title }}`."
    write(tmp_path, {"tea.md": f"{head}{text}"})

    said = "\n".join(run(tmp_path))

    assert text_of("/tea") == "Read in 3 of Tea, {{ list }}, {{ title }}."
    assert links("/tea") == ["https://else.example/x"]
    assert "variable of the front matter (3)" in said
    assert "variable {{ … }} (1)" in said
