"""Links, images and footnotes of Markdown refer to posts and files of the site."""

from __future__ import annotations

import pytest

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.html import to_html
from tests import make
from tests.imports.markdown_files import links, paths, run, text_of, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write(tmp_path, {"out/secret.md": "# Secret", "in/one.md": "# One"})
    (tmp_path / "in/link.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")

    run(tmp_path / "in")

    assert paths() == ["/one"]


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
    # The entries; the report after them groups the same.
    entries = said[: next(at for at, line in enumerate(said) if " × " in line)]
    named = [line for line in entries if "a section that does not exist on that page here" in line]
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
