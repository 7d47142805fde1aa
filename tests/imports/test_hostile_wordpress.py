"""An export with more than posts and pages, like real sites have: everything dropped is reported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from content.models import Post
from content.store.post_repository import load
from proofroom.definitions.richtext.nodes import to_text
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.models import ImportLine
from proofroom_apps.menus.models import Menu
from seo.models import Redirect
from tests import make
from tests.imports.test_wordpress import HEAD, UPLOADS, attachment, export, item, run

pytestmark = pytest.mark.django_db

AUTHORS = (
    "<wp:author><wp:author_login><![CDATA[anna]]></wp:author_login><wp:author_email><![CDATA[]]></wp:author_email>"
    "<wp:author_display_name><![CDATA[Anna &amp; co]]></wp:author_display_name></wp:author>"
    "<wp:category><wp:term_id>7</wp:term_id><wp:category_nicename>t%c3%a4glich</wp:category_nicename>"
    "<wp:category_parent>local</wp:category_parent><wp:cat_name><![CDATA[Täglich]]></wp:cat_name>"
    "<wp:category_description><![CDATA[<p>Every <a href='/daily'>day</a></p><p>And night</p>]]>"
    "</wp:category_description></wp:category>"
    "<wp:term><wp:term_id>9</wp:term_id><wp:term_taxonomy>product_cat</wp:term_taxonomy>"
    "<wp:term_slug>cups</wp:term_slug><wp:term_name>Cups</wp:term_name></wp:term>"
)
CLASSIC = f"""First line
second line

<!--more-->[caption id="attachment_20" align="alignnone" width="300"]<a href="{UPLOADS}/one.jpg"><img src="{UPLOADS}/one-300x200.jpg" /></a> Tea <em>from</em> Assam[/caption]

<!-- ask Bo about this -->[code]<b>not bold</b>[/code]

[gallery ids="20,999"]

[et_pb_section fb_built="1"][et_pb_row]Words of a builder[/et_pb_row][/et_pb_section]

[vc_row][vc_column_text]Words of a composer[/vc_column_text][/vc_row]

<img src="data:image/gif;base64,R0lGOD" data-src="{UPLOADS}/one.jpg"> <img src="data:image/gif;base64,R0lGOD">
CDATA ends with ]]]]><![CDATA[> here"""  # noqa: E501  # as WordPress writes them
BLOCKS = f"""<!-- wp:cover {{"url":"{UPLOADS}/one.jpg","id":20}} --><div class="wp-block-cover"><img src="{UPLOADS}/one.jpg"/>
<!-- wp:heading --><h2>Above</h2><!-- /wp:heading --><!-- wp:heading --><h2>Below it</h2><!-- /wp:heading --></div><!-- /wp:cover -->
<!-- wp:columns --><div class="wp-block-columns"><!-- wp:column --><div><!-- wp:paragraph --><p>Left</p><!-- /wp:paragraph --></div>
<!-- /wp:column --><!-- wp:column --><div><!-- wp:group --><div><!-- wp:paragraph --><p>Right</p><!-- /wp:paragraph --></div>
<!-- /wp:group --></div><!-- /wp:column --></div><!-- /wp:columns -->
<!-- wp:embed {{"providerNameSlug":"odd"}} --><figure>Words without an address</figure><!-- /wp:embed -->
<!-- wp:gallery {{"ids":[20,999]}} /-->
<!-- wp:block {{"ref":60}} /--><!-- wp:block {{"ref":61}} /-->
<!-- wp:html --><style>p {{}}</style><input value="typed"><p>Kept</p><!-- /wp:html -->
<!-- wp:gallery --><figure class="wp-block-gallery"><figure><img src="{UPLOADS}/one.jpg"/><figcaption>{"long " * 70}end</figcaption></figure></figure>
<!-- /wp:gallery --><!-- wp:acme/never-closed --><p>Last words</p>"""  # noqa: E501  # as WordPress writes them


def menu_item(id_: int, title: str, parent: int = 0, **meta: str) -> str:
    menu = '<category domain="nav_menu" nicename="main"><![CDATA[Main]]></category>'
    metas = {f"_menu_item_{key}": value for key, value in meta.items()}
    values = {"_menu_item_menu_item_parent": str(parent), **metas}
    return item(id_, title, type="nav_menu_item", extra=menu, meta=values)


def whole(folder: Path) -> Path:
    terms = (
        '<category domain="category" nicename="t%c3%a4glich"><![CDATA[Täglich]]></category>'
        '<category domain="product_cat" nicename="cups"><![CDATA[Cups]]></category>'
        '<category domain="post_format" nicename="post-format-aside"><![CDATA[Aside]]></category>'
    )
    comment = "<wp:comment><wp:comment_content><![CDATA[Hi]]></wp:comment_content></wp:comment>"
    date = "<wp:post_date><![CDATA[2014-05-06 07:08:09]]></wp:post_date>"
    deep = [
        menu_item(100 + n, f"Level {n}", 99 + n if n else 0, type="custom", url=f"https://else.example/{n}")
        for n in range(7)
    ]  # fmt: skip
    return export(
        folder,
        item(1, "Classic", CLASSIC, link="https://old.example/2014/classic/",
             extra=terms + comment + date + "<wp:is_sticky>1</wp:is_sticky>",
             meta={"price": "3", "_price": "field_5f", "_yoast_wpseo_canonical": "https://else.example/c",
                   "_elementor_data": "[]", "_edit_lock": "1:1", "_wp_old_slug": "old-name",
                   "_yoast_wpseo_meta-robots-noindex": "1"}),
        item(2, "Blocks", BLOCKS),
        item(3, "Products", "A", type="page"),
        item(4, "Services", "B", type="page"),
        item(5, "Overview", "C", type="page", parent=3, link="https://old.example/products/overview/"),
        item(6, "Overview", "D", type="page", parent=4, link="https://old.example/services/overview/"),
        item(7, "Later", "E", status="future"),
        item(8, "Waiting", "F", status="pending"),
        item(9, "Binned", "G", status="trash"),
        item(10, "Secret", "H", extra="<wp:post_password><![CDATA[pw]]></wp:post_password>"),
        item(11, "A shop", "I", type="product"),
        item(12, "Earlier", "J", type="revision", status="inherit", parent=1),
        item(60, "Shared", "<!-- wp:paragraph --><p>Shared words</p><!-- /wp:paragraph -->", type="wp_block"),
        item(62, "Unused", "<!-- wp:paragraph --><p>Nobody</p><!-- /wp:paragraph -->", type="wp_block"),
        item(63, "Colours", "a {}", type="custom_css"),
        attachment(20, "one.jpg"),
        attachment(21, "film.mp4"),
        item(22, "No file", type="attachment", status="inherit"),
        menu_item(30, "", type="post_type", object_id="5"),
        menu_item(31, "", type="taxonomy", object="category", object_id="7"),
        item(32, "Nowhere", type="nav_menu_item"),
        *deep,
        head=HEAD + AUTHORS,
    )  # fmt: skip


def test_nothing_of_an_export_is_lost_in_silence(tmp_path: Path) -> None:
    make.user("admin")
    uploads = tmp_path / "media" / "2024" / "05"
    uploads.mkdir(parents=True)
    (uploads / "one.jpg").write_bytes(make.picture(kind="JPEG"))
    path = whole(tmp_path)

    said = run(path, media=str(tmp_path / "media"), fetch=False)

    assert "posts: 9 created" in said
    assert not ImportLine.objects.filter(severity="error").exclude(kind="files").exists()
    assert set(Post.objects.filter(slug="overview").values_list("path", flat=True)) == {
        "/products/overview", "/services/overview",
    }  # fmt: skip
    classic = Post.objects.get(title="Classic")
    content = {
        post.title: str([(module.type, module.props) for module in load(post).modules])
        for post in Post.objects.all()
    }
    for words in (
        "second line", "from", "Assam", "<b>not bold</b>", "Words of a builder", "Words of a composer",
        "with ]]> here",
    ):  # fmt: skip
        assert words in content["Classic"], words
    for words in (
        "Above", "Below it", "Left", "Right", "Words without an address", "Shared words", "Kept", "long end",
        "Last words",
    ):  # fmt: skip
        assert words in content["Blocks"], words
    daily = classic.post_terms.get().term
    assert (daily.name, daily.parent) == ("Täglich", Term.objects.get(slug="local"))
    old = set(Redirect.objects.values_list("from_path", flat=True))
    assert {"/2014/classic", "/2014/old-name"} <= {one.rstrip("/") for one in old}
    page, category, level = Menu.objects.get(slug="main").items
    assert page["postId"] == str(Post.objects.get(path="/products/overview").pk)
    assert (category["label"], level["label"]) == ("Täglich", "Level 0")
    for line in (
        "comment <!-- … --> (1)",
        "picture without an address of its own (1)",
        "picture of a gallery that is not in the file (1)",
        "shortcode [et_pb_section] (1)",
        "shortcode [vc_row] (1)",
        "block embed without an address (1)",
        "block acme/never-closed (1)",
        "reusable block that is not in the file (1)",
        "element <input> (1), element <style> (1)",
        "Comments are not imported: 1",
        "It had a password",
        "It was at the top of the list",
        "left out: _elementor_data, _yoast_wpseo_canonical, _yoast_wpseo_meta-robots-noindex, price.",
        "status in the source: future",
        "status in the source: pending",
        "no post type product: 1",
        "no taxonomy product_cat: 1",
        "no taxonomy post_format: 1",
        "Links and images of the description, left out: /daily.",
        "Author in the source: Anna & co.",
        "Files of this type cannot be imported",
        "The menu item Täglich has no address on this site.",
        "Menu items below Level 4 are nested too deeply; 1 left out.",
    ):
        assert line in said, line
    left_out = ImportLine.objects.get(message__startswith="Left out: post, trash").message
    for name in ("post, trash", "revision", "wp_block", "custom_css", "nav_menu_item"):
        assert f"{name} (1)" in left_out, name
    assert "pw" not in said.split()

    again = run(path, media=str(tmp_path / "media"), fetch=False)

    assert "posts: 9 unchanged" in again
    assert Post.objects.count() == 9


PARTS = f"""<!-- wp:social-links --><ul class="wp-block-social-links"><!-- wp:social-link {{"url":"https://social.example/@a","label":"Follow us"}} /-->
<!-- wp:social-link {{"service":"x"}} /--></ul><!-- /wp:social-links -->
<!-- wp:file --><div class="wp-block-file"><a href="{UPLOADS}/a.zip">Price list</a><a href="{UPLOADS}/a.zip" download>Download</a></div><!-- /wp:file -->
<!-- wp:html --><form><label>Your name</label><select><option>Tea</option><option>Coffee</option></select><button>Send</button></form><!-- /wp:html -->
<!-- wp:block {{"ref":60,"content":{{"Title":{{"content":"Own words"}}}}}} /-->"""  # noqa: E501  # as WordPress writes them


def test_words_stand_apart_and_links_of_icons_stay(tmp_path: Path) -> None:
    make.user("admin")
    path = export(
        tmp_path,
        item(1, "Parts", PARTS),
        item(2, "Pages", "First page<!--nextpage-->Second page"),
        item(60, "Shared", "<!-- wp:heading --><h2>Usual words</h2><!-- /wp:heading -->", type="wp_block"),
    )  # fmt: skip

    said = run(path, fetch=False)

    words = text_of("Parts")
    for part in (
        "Follow us",
        "Price list Download",
        "Your name",
        "Tea Coffee",
        "Send",
        "Usual words",
    ):
        assert part in words, part
    assert "https://social.example/@a" in str(load(Post.objects.get(title="Parts")).modules)
    assert "own words of a synced pattern, which has no place for them: “Own words” (1)" in said
    assert "social link without an address (1)" in said
    assert "First page\nSecond page" in text_of("Pages").replace("\n\n", "\n")


def in_json(**values: object) -> str:
    """Return attributes in WordPress's format."""
    text = json.dumps(values, ensure_ascii=False)
    return text.replace("--", "\\u002d\\u002d").replace("<", "\\u003c").replace(">", "\\u003e")


ACF = in_json(
    name="acf/hero", mode="preview",
    data={
        "headline": "Zephyr headline", "_headline": "field_5f1", "text": "<p>Quartz <b>paragraph</b></p>",
        "layout": "wide", "image": 20, "_image": "field_5f2", "rows": 2,
        "rows_0_title": "Walnut", "rows_0_note": "Fig",
        "rows_1_title": "Birch & co", "button": {"title": "Juniper button", "url": "https://else.example/j"},
        "is_dark": "1", "colour": "#ff0000", "map": "https://maps.example/here",
    },
)  # fmt: skip
PATTERN = (
    '<!-- wp:group --><div><!-- wp:heading {"metadata":{"name":"Title"}} --><h2 class="a">Usual title</h2>'
    "<!-- /wp:heading -->"
    '<!-- wp:paragraph {"metadata":{"name":"Body"}} --><p>Usual body</p><!-- /wp:paragraph -->'
    '<!-- wp:button {"metadata":{"name":"Go"}} --><div class="wp-block-button">'
    '<a class="b" href="https://else.example/usual">Usual button</a></div><!-- /wp:button -->'
    '<!-- wp:image {"metadata":{"name":"Cup"}} --><figure><img src="https://old.example/u.jpg" alt="Usual"/></figure>'
    "<!-- /wp:image --></div><!-- /wp:group -->"
)
OWN = in_json(
    ref=60,
    content={
        "Title": {"content": "Own <em>title</em> Saffron"}, "Go": {"text": "Own Thyme", "url": "https://else.example/own"},
        "Cup": {"url": "https://else.example/own.jpg", "alt": "Own Clove"}, "Nowhere": {"content": "Own Mace"},
    },
)  # fmt: skip
KEPT_WORDS = (
    f"<!-- wp:acf/hero {ACF} /--><!-- wp:block {OWN} /-->"
    '<!-- wp:more {"customText":"Read Onward"} --><!--more Read Onward--><!-- /wp:more -->'
    '<!-- wp:search {"label":"Look Basil","placeholder":"Type Anise","buttonText":"Press Dill"} /-->'
    '<!-- wp:read-more {"content":"Continue Sorrel"} /-->'
    '<!-- wp:acme/card {"title":"Card Cumin","className":"is-style-wide","items":[{"q":"Why Nutmeg?"}]} -->'
    "<div><p>Inside Rue</p></div><!-- /wp:acme/card -->"
)


def test_words_in_attributes_and_own_words_of_patterns_are_kept_or_named(tmp_path: Path) -> None:
    make.user("admin")
    path = export(
        tmp_path,
        item(1, "Words", KEPT_WORDS),
        item(2, "Classic", "Before <!--more Go Fennel--> after"),
        item(3, "Usual", '<!-- wp:block {"ref":60} /-->'),
        item(60, "Shared", PATTERN, type="wp_block"),
        attachment(20, "one.jpg"),
    )

    said = run(path, fetch=False)

    words, modules = text_of("Words"), str(load(Post.objects.get(title="Words")).modules)
    for part in (
        "Zephyr headline", "Quartz paragraph", "Walnut", "Fig", "Birch & co", "Juniper button", "Card Cumin",
        "Why Nutmeg?", "Inside Rue", "Own title Saffron", "Own Thyme", "Usual body",
    ):  # fmt: skip
        assert part in words, part
    for part in (
        "/one.jpg",
        "else.example/j",
        "else.example/own'",
        "else.example/own.jpg",
        "Own Clove",
        "maps.example",
    ):
        assert part in modules, part
    for part in ("field_5f", "wide", "ff0000", "Usual title", "Usual button", "preview"):
        assert part not in modules, part
    for part in (
        "Read Onward",
        "Look Basil",
        "Type Anise",
        "Press Dill",
        "Continue Sorrel",
        "Own Mace",
        "Go Fennel",
    ):
        assert f"“{part}”" in said, part
    assert text_of("Usual").startswith("Usual title")
    assert "fennel" not in text_of("Classic").lower()


def test_no_word_of_an_export_is_in_neither_a_post_nor_the_report(tmp_path: Path) -> None:
    make.user("admin")
    path = export(
        tmp_path, item(1, "Words", KEPT_WORDS), item(60, "Shared", PATTERN, type="wp_block")
    )

    said = run(path, fetch=False)

    there = f"{text_of('Words')} {said}".lower()
    readable = re.findall(
        r"[A-Z][a-z]{2,}", re.sub(r"Usual (?:title|button)|\"Usual\"", "", KEPT_WORDS)
    )
    words = {word.lower() for word in readable} - {"title", "body", "cup", "nowhere", "name"}
    assert len(words) > 25
    assert {word for word in words if word not in there} == set()


def text_of(title: str) -> str:
    modules = load(Post.objects.get(title=title)).modules
    parts = [to_text(module.props["content"]) for module in modules if "content" in module.props]
    return " ".join("\n".join(parts).split(" "))


def test_circles_of_parents_are_opened_and_named(tmp_path: Path) -> None:
    make.user("admin")
    url = "https://else.example/"
    path = export(
        tmp_path,
        item(1, "Ann", "a", type="page", parent=2),
        item(2, "Bo", "b", type="page", parent=1),
        item(3, "Cy", "c", type="page", parent=3),
        menu_item(30, "One", 31, type="custom", url=f"{url}1"),
        menu_item(31, "Two", 30, type="custom", url=f"{url}2"),
        menu_item(32, "Itself", 32, type="custom", url=f"{url}3"),
    )

    run(path, fetch=False)

    assert set(Post.objects.values_list("title", "path")) == {
        ("Bo", "/bo"), ("Ann", "/bo/ann"), ("Cy", "/cy"),
    }  # fmt: skip
    [itself, one] = Menu.objects.get().items
    assert (itself["label"], itself["children"]) == ("Itself", [])
    assert (one["label"], [child["label"] for child in one["children"]]) == ("One", ["Two"])
    lines = ImportLine.objects.filter(message__contains="is nested below itself")
    assert {line.place for line in lines} == {"Bo (page 2)", "Cy (page 3)", "Main, One"}
