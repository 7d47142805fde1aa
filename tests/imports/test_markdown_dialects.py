"""Markdown extensions of site generators are preserved, or reported."""

from __future__ import annotations

import pytest

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.nodes import to_text
from proofroom_apps.imports.models import ImportLine
from tests import make
from tests.imports.markdown_files import blocks, links, run, text_of, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


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


def test_pymdown_blocks_and_code_titles_keep_their_text(tmp_path):
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


def test_values_of_the_front_matter_stand_where_a_text_names_them(tmp_path):
    head = "---\nexternal: https://else.example/x\nversion: 3\ntitle: Tea\nlist: [a]\n---\n"
    text = "[Read]({{ external }}) in {{ page.version }} of {{ $frontmatter.title }}, {{ list }}, `{{ title }}`."
    write(tmp_path, {"tea.md": f"{head}{text}"})

    said = "\n".join(run(tmp_path))

    assert text_of("/tea") == "Read in 3 of Tea, {{ list }}, {{ title }}."
    assert links("/tea") == ["https://else.example/x"]
    assert "variable of the front matter (3)" in said
    assert "variable {{ … }} (1)" in said
