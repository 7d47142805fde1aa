"""Texts and links of a WordPress export that cannot be imported are reported, none is lost silently."""

from __future__ import annotations

import pytest

from content.models import Post
from content.store.post_repository import load
from media.models import Asset
from proofroom_apps.imports.items import counted_remarks
from proofroom_apps.imports.models import ImportLine
from seo.models import Redirect
from tests import make
from tests.imports.test_wordpress import UPLOADS, attachment, export, item, run, uploads

__all__ = ["uploads"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


def file(id_: int, name: str, *, title: str = "", caption: str = "", description: str = "") -> str:
    """Return an attachment without an alternative text."""
    made = item(
        id_,
        title or name.rpartition(".")[0],
        description,
        type="attachment",
        status="inherit",
        extra=f"<wp:attachment_url>{UPLOADS}/{name}</wp:attachment_url>",
    )
    return made.replace("<excerpt:encoded><![CDATA[", f"<excerpt:encoded><![CDATA[{caption}")


def report() -> str:
    return "\n".join(ImportLine.objects.values_list("message", flat=True))


GALLERY = f"""<!-- wp:gallery --><figure class="wp-block-gallery">
<figure><a href="https://shop.example/two"><img src="{UPLOADS}/two.jpg" alt="Red field" title="Second"/></a>
<figcaption>See <a href="/hills/">the hills</a></figcaption></figure>
<figure><a href="{UPLOADS}/one.jpg"><img src="{UPLOADS}/one-300x200.jpg" alt="Grey sea"/></a></figure>
<figcaption class="blocks-gallery-caption">
All by <a href="https://anna.example/">Anna</a></figcaption></figure><!-- /wp:gallery -->"""


def test_alternative_texts_of_galleries_describe_the_files_or_are_named(tmp_path, uploads):
    run(
        export(tmp_path, item(1, "A", GALLERY), attachment(20, "one.jpg"), file(21, "two.jpg")),
        media=str(uploads),
    )

    assert dict(Asset.objects.values_list("filename", "alt_text")) == {
        "one.jpg": "Alt of one.jpg",
        "two.jpg": "Red field",
    }
    said = report()
    assert "alternative text of a picture in this place: “Grey sea”" in said
    assert "Red field" not in said
    for name in (
        "link of a picture: https://shop.example/two",
        "link of “the hills”: /hills/",
        "title of a picture or link: “Second”",
    ):
        assert name in said
    assert f"{UPLOADS}/one.jpg (" not in said
    prose = load(Post.objects.get()).modules[-1].props["content"]
    assert prose["content"][0]["content"][1]["marks"][0]["attrs"]["href"] == "https://anna.example/"


def test_alt_texts_of_covers_and_images(tmp_path, uploads):
    beside = (
        f'<!-- wp:media-text --><div><figure><img src="{UPLOADS}/one.jpg" alt="Beside"/></figure>'
        "<div><p>Text</p></div></div><!-- /wp:media-text -->"
    )
    cover = (
        f'<!-- wp:cover {{"url":"{UPLOADS}/two.jpg","alt":"Behind"}} --><div><h1>Title</h1>\n<p>Line</p></div>'
        "<!-- /wp:cover -->"
    )
    run(
        export(
            tmp_path,
            item(1, "A", cover + beside, type="page"),
            attachment(20, "one.jpg"),
            attachment(21, "two.jpg"),
        ),
        media=str(uploads),
    )

    assert [module.type for module in load(Post.objects.get()).modules] == [
        "hero",
        "prose-with-media",
    ]
    assert "in this place: “Beside” (1)" in report()
    assert "in this place: “Behind” (1)" in report()


def test_a_picture_that_does_not_come_in_is_named_with_its_alternative_text(tmp_path, uploads):
    run(export(tmp_path, item(1, "A", GALLERY)), fetch=False)

    assert "which was not imported: “Red field”" in report()


def test_caption_and_title_of_a_file_stand_in_its_description(tmp_path, uploads):
    one = file(20, "one.jpg", title="The sea", caption="By Anna", description="Taken at dawn")
    two = file(21, "two.jpg", description="x" * 1990 + " and the end of it")
    other = file(22, "list.docx", title="Prices", caption="For guests", description="As of May")
    run(export(tmp_path, one, two, other), media=str(uploads))

    found = dict(Asset.objects.values_list("filename", "description"))
    assert found["one.jpg"] == "Taken at dawn\n\nBy Anna\n\nThe sea"
    assert found["two.jpg"] == "x" * 1990 + " and the"
    assert "the rest was left out: “end of it”" in report()
    assert "Left out: “As of May”, “For guests”, “Prices”." in report()


def test_texts_of_a_file_that_the_library_has_already_are_named(tmp_path, uploads):
    run(export(tmp_path, attachment(20, "one.jpg"), attachment(22, "copy.jpg")), media=str(uploads))

    assert Asset.objects.get().alt_text == "Alt of one.jpg"
    assert "Left out: “Alt of copy.jpg”." in report()


def test_words_in_attributes_of_html_are_kept_or_named(tmp_path):
    html = (
        '<abbr title="Hackberry">H</abbr> <textarea placeholder="Juneberry"></textarea> <area alt="Barberry">'
        '<optgroup label="Crowberry"></optgroup><pre>code <img src="https://old.example/x.png" alt="Olive"></pre>'
        '<iframe title="Map of it" src="https://maps.example/embed"></iframe>'
    )
    run(export(tmp_path, item(1, "A", f"<!-- wp:html -->{html}<!-- /wp:html -->")), fetch=False)

    for name in (
        "title of <abbr>: “Hackberry”",
        "placeholder of <textarea>: “Juneberry”",
        "alt of <area>: “Barberry”",
        "label of <optgroup>: “Crowberry”",
    ):
        assert name in report()
    first, frame = load(Post.objects.get()).modules
    assert frame.props["title"] == "Map of it"
    picture = first.props["content"]["content"][-1]["content"][0]
    assert picture["attrs"]["alt"] == "Olive"


def test_links_and_pictures_of_an_excerpt_are_named(tmp_path):
    entry = item(1, "A", "x").replace(
        "<excerpt:encoded><![CDATA[",
        '<excerpt:encoded><![CDATA[See <a href="/hills/">hills</a> <img src="/s.jpg" alt="Salmon">',
    )
    run(export(tmp_path, entry), fetch=False)

    assert Post.objects.get().excerpt == "See hills"
    assert "of the excerpt, left out: /hills/, /s.jpg, Salmon." in report()


def test_titles_of_menu_items_and_lost_addresses_above_others_are_named(tmp_path):
    def entry(id_: int, kind: str, parent: int, url: str = "") -> str:
        made = item(
            id_, f"Item {id_}", type="nav_menu_item",
            extra='<category domain="nav_menu" nicename="main"><![CDATA[Main]]></category>',
            meta={"_menu_item_type": kind, "_menu_item_menu_item_parent": str(parent), "_menu_item_url": url,
                  "_menu_item_object": "category", "_menu_item_object_id": "7"},
        )  # fmt: skip
        return made.replace("<excerpt:encoded><![CDATA[", f"<excerpt:encoded><![CDATA[Title {id_}")

    run(export(tmp_path, entry(1, "taxonomy", 0), entry(2, "custom", 1, "https://x.example/")))

    assert "left out: “Title 1”" in report()
    assert "The menu item Item 1 has no address on this site." in report()
    assert "The menu item Item 2" not in report()


def test_a_dry_run_counts_a_file_once_as_a_run_does(tmp_path, uploads):
    picture = f'<img src="{UPLOADS}/one.jpg" alt="One">'
    path = export(tmp_path, item(1, "A", picture), item(2, "B", picture))

    assert "files: 1 created" in run(path, media=str(uploads), dry_run=True)
    assert "files: 1 created" in run(path, media=str(uploads))


def test_characters_of_windows_and_warnings_before_the_file(tmp_path):
    path = export(tmp_path, item(1, "It\x92s", "\x93Smart\x94\x85"))
    path.write_bytes(b"<br />\n<b>Warning</b>: something in wp.php\n" + path.read_bytes())
    run(path)

    post = Post.objects.get()
    assert post.title == "It’s"
    assert "“Smart”…" in str(load(post).modules[0].props)


def test_links_that_follow_the_address_of_their_page_lead_to_the_posts(tmp_path):
    text = '<p><a href="../team/">1</a> <a href="../gone/">2</a></p>'
    team = item(1, "Team", "x", type="page", link="https://old.example/about/team/")
    links = item(2, "Links", text, type="page", link="https://old.example/about/links/")
    run(export(tmp_path, team, links))

    assert "'href': '/team'" in str(load(Post.objects.get(title="Links")).modules[0].props)
    assert "The link to ../gone/ does not match any post in the source." in report()


def test_a_dry_run_says_which_redirects_would_be_skipped(tmp_path):
    make.post("About", type="page", slug="about")
    path = export(
        tmp_path, item(1, "Us", "x", type="page", slug="us", link="https://old.example/about/")
    )

    tried, done = run(path, dry_run=True), run(path)

    assert not Redirect.objects.exists()
    assert "skipped   /about" in tried
    assert "skipped   /about" in done


def test_remarks_name_everything_however_long_the_list() -> None:
    counts = {f"name {number} {'x' * 200}": 1 for number in range(30)}

    said = list(counted_remarks("here", "Left out: %(names)s.", counts))

    assert all(len(one.message) <= 2000 for one in said)
    assert all(any(name in one.message for one in said) for name in counts)
