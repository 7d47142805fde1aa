"""A WordPress export becomes drafts with images, terms, menus and redirects."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from content.layers import open_layers
from content.models import Post
from content.posts.edit import edit_post
from content.store.post_repository import load
from media.models import Asset
from proofroom.definitions.richtext.nodes import to_text
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.menus.models import Menu
from seo.models import Redirect
from tests import make
from tests.imports.command import call_import

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]

HEAD = """<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:wp="http://wordpress.org/export/1.2/"><channel>
<title>Old site</title><link>https://old.example</link>
<wp:base_site_url>https://old.example</wp:base_site_url><wp:base_blog_url>https://old.example</wp:base_blog_url>
<wp:category><wp:category_nicename>news</wp:category_nicename><wp:category_parent></wp:category_parent>
<wp:cat_name><![CDATA[News &amp; more]]></wp:cat_name></wp:category>
<wp:category><wp:category_nicename>local</wp:category_nicename><wp:category_parent>news</wp:category_parent>
<wp:cat_name>Local</wp:cat_name></wp:category>
<wp:tag><wp:tag_slug>tea</wp:tag_slug><wp:tag_name>Tea</wp:tag_name></wp:tag>
"""
TAIL = "</channel></rss>"
UPLOADS = "https://old.example/wp-content/uploads/2024/05"


def item(
    id_: int,
    title: str,
    content: str = "",
    *,
    type: str = "post",
    parent: int = 0,
    slug: str = "",
    status: str = "publish",
    link: str = "",
    extra: str = "",
    meta: dict[str, str] | None = None,
) -> str:
    slug = slug or title.lower().replace(" ", "-")
    metas = "".join(
        f"<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value><![CDATA[{value}]]></wp:meta_value></wp:postmeta>"
        for key, value in (meta or {}).items()
    )
    return (
        f"<item><title>{title}</title><link>{link or f'https://old.example/{slug}/'}</link>"
        f"<dc:creator><![CDATA[anna]]></dc:creator>"
        f"<content:encoded><![CDATA[{content}]]></content:encoded>"
        f"<excerpt:encoded><![CDATA[]]></excerpt:encoded><wp:post_id>{id_}</wp:post_id>"
        f"<wp:post_name>{slug}</wp:post_name><wp:status>{status}</wp:status>"
        f"<wp:post_parent>{parent}</wp:post_parent><wp:menu_order>0</wp:menu_order>"
        f"<wp:post_type>{type}</wp:post_type>{extra}{metas}</item>"
    )


def attachment(id_: int, name: str, parent: int = 0) -> str:
    url = f"<wp:attachment_url>{UPLOADS}/{name}</wp:attachment_url>"
    return item(
        id_,
        name,
        type="attachment",
        status="inherit",
        parent=parent,
        extra=url,
        meta={"_wp_attachment_image_alt": f"Alt of {name}"},
    )


BLOCKS = f"""<!-- wp:paragraph -->
<p>Hello <strong>world</strong>, see <a href="https://old.example/about/team/#who">the team</a>.</p>
<!-- /wp:paragraph -->
<!-- wp:image {{"id":20}} -->
<figure class="wp-block-image"><img src="{UPLOADS}/one-300x200.jpg" alt="One"/><figcaption>The caption</figcaption></figure>
<!-- /wp:image -->
<!-- wp:gallery {{"linkTo":"none"}} -->
<figure class="wp-block-gallery"><!-- wp:image {{"id":20}} --><figure class="wp-block-image"><img src="{UPLOADS}/one.jpg" alt=""/></figure><!-- /wp:image -->
<!-- wp:image {{"id":21}} --><figure class="wp-block-image"><img src="{UPLOADS}/two.jpg" alt=""/><figcaption>Second</figcaption></figure><!-- /wp:image --></figure>
<!-- /wp:gallery -->
<!-- wp:list --><ul><!-- wp:list-item --><li>First</li><!-- /wp:list-item --><!-- wp:list-item --><li>Next</li><!-- /wp:list-item --></ul><!-- /wp:list -->
<!-- wp:embed {{"url":"https://www.youtube.com/watch?v=abcdefghij1","type":"video"}} -->
<figure class="wp-block-embed"><div class="wp-block-embed__wrapper">
https://www.youtube.com/watch?v=abcdefghij1
</div></figure>
<!-- /wp:embed -->
<!-- wp:acme/price-box {{"sum":3}} --><div>Only 3</div><!-- /wp:acme/price-box -->
"""  # noqa: E501  # as WordPress writes them
CLASSIC = """First line
with a break

Second paragraph [contact-form-7 id="5" title="x"] here.

[gallery ids="20,21"]

<script>alert(1)</script>Last <em>words</em>"""


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    folder = tmp_path / "media" / "2024" / "05"
    folder.mkdir(parents=True)
    (folder / "one.jpg").write_bytes(make.picture(kind="JPEG"))
    (folder / "two.jpg").write_bytes(make.picture(kind="JPEG", colour="red"))
    (folder / "copy.jpg").write_bytes(make.picture(kind="JPEG"))
    return tmp_path / "media"


def export(folder: Path, *items: str, head: str = HEAD, tail: str = TAIL) -> Path:
    path = folder / "export.xml"
    path.write_bytes((head + "".join(items) + tail).encode("utf-8", "surrogatepass"))
    return path


def run(path: Path, **options: Any) -> str:
    out = StringIO()
    call_import("wordpress", str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


def whole(folder: Path) -> Path:
    terms = (
        '<category domain="category" nicename="local"><![CDATA[Local]]></category>'
        '<category domain="post_tag" nicename="tea"><![CDATA[Tea]]></category>'
        '<category domain="post_tag" nicename="new-word"><![CDATA[New word]]></category>'
    )
    menu = '<category domain="nav_menu" nicename="main"><![CDATA[Main menu]]></category>'
    return export(
        folder,
        item(3, "Team", "<p>We</p>", type="page", parent=2, link="https://old.example/about/team/"),
        item(2, "About", "Text", type="page"),
        item(1, "First post", BLOCKS, extra=terms, meta={"_thumbnail_id": "21"},
             link="https://old.example/2024/05/first-post/"),
        item(4, "Second post", CLASSIC, status="draft"),
        attachment(20, "one.jpg"),
        attachment(21, "two.jpg"),
        attachment(22, "copy.jpg"),
        item(30, "", type="nav_menu_item", extra=menu, meta={
            "_menu_item_type": "post_type", "_menu_item_object_id": "2", "_menu_item_menu_item_parent": "0"}),
        item(31, "Outside", type="nav_menu_item", extra=menu, meta={
            "_menu_item_type": "custom", "_menu_item_url": "https://else.example/x",
            "_menu_item_menu_item_parent": "30"}),
        item(50, "A form", type="acf-field-group"),
    )  # fmt: skip


def test_posts_pages_files_terms_menus_and_redirects_come_in(tmp_path, uploads):
    said = run(whole(tmp_path), media=str(uploads))

    posts = {post.title: post for post in Post.objects.all()}
    assert set(posts) == {"First post", "Second post", "About", "Team"}
    assert {post.status for post in posts.values()} == {"draft"}
    assert posts["Team"].path == "/about/team"
    assert posts["Team"].parent_id == posts["About"].pk
    assert posts["First post"].path == "/blog/first-post"
    # Two of the three files have the same bytes.
    assert sorted(Asset.objects.values_list("alt_text", flat=True)) == [
        "Alt of one.jpg",
        "Alt of two.jpg",
    ]
    assert posts["First post"].featured_media.alt_text == "Alt of two.jpg"
    assert Term.objects.get(slug="local").parent == Term.objects.get(slug="news")
    assert Term.objects.get(slug="news").name == "News & more"
    names = set(posts["First post"].post_terms.values_list("term__name", flat=True))
    assert names == {"Local", "Tea", "New word"}
    [first] = Menu.objects.get(slug="main").items
    assert first["postId"] == str(posts["About"].pk)
    assert first["children"][0]["url"] == "https://else.example/x"
    leads = dict(Redirect.objects.values_list("from_path", "to_path"))
    assert leads == {"/2024/05/first-post": "/blog/first-post"}
    assert "no post type acf-field-group: 1 items" in said
    assert "block acme/price-box (1)" in said
    assert "shortcode [contact-form-7] (1)" in said


def test_blocks_become_modules_and_links_lead_to_the_posts(tmp_path, uploads):
    run(whole(tmp_path), media=str(uploads))

    document = load(Post.objects.get(title="First post"))
    assert [module.type for module in document.modules] == [
        "prose",
        "gallery",
        "prose",
        "embed",
        "prose",
    ]
    first = document.modules[0].props["content"]["content"]
    link = next(node for node in first[0]["content"] if node.get("text") == "the team")
    assert link["marks"][0]["attrs"]["href"] == "/about/team#who"
    one = Asset.objects.get(alt_text="Alt of one.jpg")
    assert first[1]["content"][0]["attrs"]["src"].endswith(one.file.name)
    assert first[1]["content"][0]["attrs"]["caption"] == "The caption"
    pictures = document.modules[1].props["items"]
    assert [picture["caption"] for picture in pictures] == ["", "Second"]
    assert pictures[0]["imageId"] == str(one.pk)
    assert document.modules[2].props["content"]["content"][0]["type"] == "bulletList"
    assert document.modules[3].props["url"] == "https://www.youtube.com/watch?v=abcdefghij1"


def test_classic_text_has_paragraphs_and_no_script(tmp_path, uploads):
    run(whole(tmp_path), media=str(uploads))

    document = load(Post.objects.get(title="Second post"))
    assert [module.type for module in document.modules] == ["prose", "gallery", "prose"]
    first = document.modules[0].props["content"]["content"]
    assert [node["type"] for node in first[0]["content"]] == ["text", "hardBreak", "text"]
    assert "[contact-form-7" in first[1]["content"][0]["text"]
    assert "alert" not in str(document.modules[2].props)


def test_a_second_run_changes_nothing_and_a_changed_post_is_staged(tmp_path, uploads):
    run(whole(tmp_path), media=str(uploads))
    before = {model: model.objects.count() for model in (Post, Asset, Term, Menu, Redirect)}

    run(whole(tmp_path), media=str(uploads))

    assert {model: model.objects.count() for model in before} == before
    counts = ImportRun.objects.latest("created_at").counts
    assert {outcome for kind in counts.values() for outcome in kind} == {"unchanged"}

    post = Post.objects.get(title="About")
    run(export(tmp_path, item(2, "About us", "Other text", type="page", slug="about")))

    post.refresh_from_db()
    assert post.title == "About"
    review = open_layers(post).review
    assert review.document.fields["title"] == "About us"
    assert review.document.modules[0].id == load(post).modules[0].id
    assert "Other text" in str(review.document.modules[0].props)


CATEGORY = (
    "<wp:category><wp:term_id>7</wp:term_id><wp:category_nicename>tea</wp:category_nicename>"
    "<wp:category_parent></wp:category_parent><wp:cat_name><![CDATA[Tea]]></wp:cat_name>"
    "<wp:category_description><![CDATA[%s]]></wp:category_description></wp:category>"
    "<wp:category><wp:category_nicename>green</wp:category_nicename>"
    "<wp:category_parent>tea</wp:category_parent><wp:cat_name>Green</wp:cat_name>"
    "<wp:category_description><![CDATA[Steamed leaves]]></wp:category_description></wp:category>"
    "<wp:tag><wp:tag_slug>hot</wp:tag_slug><wp:tag_name>Hot</wp:tag_name>"
    "<wp:tag_description><![CDATA[Served at 80 &deg;C]]></wp:tag_description></wp:tag>"
)


def descriptions() -> dict[str, str]:
    return {f"{term.taxonomy}/{term.slug}": term.description for term in Term.objects.all()}


def with_terms(folder: Path, description: str) -> Path:
    return export(folder, item(1, "A post", "Text"), head=HEAD + CATEGORY % description)


def test_terms_come_with_their_descriptions(tmp_path):
    run(with_terms(tmp_path, "<p>From <em>leaves</em>.</p><p>In &amp; out.</p>"))

    assert {name: text for name, text in descriptions().items() if text} == {
        "topics/tea": "From leaves.\nIn & out.",
        "topics/green": "Steamed leaves",
        "tags/hot": "Served at 80 °C",
    }
    green = Term.objects.get(slug="green")
    assert green.parent is not None
    assert green.parent.slug == "tea"


def test_a_changed_description_needs_live_and_keeps_one_written_here(tmp_path):
    run(with_terms(tmp_path, "Old"))

    said = run(with_terms(tmp_path, "New"))
    assert "The description of the term has changed in the source." in said
    assert descriptions()["topics/tea"] == "Old"

    run(with_terms(tmp_path, "New"), live=True, dry_run=True)
    assert descriptions()["topics/tea"] == "Old"
    run(with_terms(tmp_path, "New"), live=True)
    assert descriptions()["topics/tea"] == "New"

    tea = Term.objects.get(taxonomy="topics", slug="tea")
    change_term(term_id=tea.pk, actor=make.actor(), description="Ours")
    said = run(with_terms(tmp_path, "Newest"), live=True)
    assert descriptions()["topics/tea"] == "Ours"
    assert "has changed in the source" not in said


def test_a_long_description_is_cut_and_reported(tmp_path):
    said = run(with_terms(tmp_path, "tea " * 2000))

    assert len(descriptions()["topics/tea"]) <= 5000
    assert "The description was cut to 5000 characters." in said
    assert "unchanged" in run(with_terms(tmp_path, "tea " * 2000))


def test_live_changes_keep_what_people_wrote_meanwhile(tmp_path):
    path = export(tmp_path, item(2, "About", "Text", type="page"))
    run(path)
    post = Post.objects.get()
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: document.with_fields({"excerpt": "By hand"}),
    )

    run(export(tmp_path, item(2, "About us", "Text", type="page", slug="about")), live=True)

    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("About us", "By hand")


def test_a_dry_run_stores_nothing(tmp_path, uploads):
    said = run(whole(tmp_path), media=str(uploads), dry_run=True)

    assert [model.objects.count() for model in (Post, Asset, Term, Menu, Redirect)] == [0] * 5
    assert ImportRun.objects.get().counts["posts"] == {"created": 4}
    assert "Dry run; nothing was stored." in said


def test_what_is_broken_is_named_and_the_rest_comes_in(tmp_path):
    control = item(7, "Con\x0btrol", "Text&nbsp;\x02 more")
    path = export(
        tmp_path,
        item(1, "Good", "Text"),
        control,
        item(1, "Twice", "Text"),
        item(8, "Lost", "Text", type="page", parent=999),
        item(9, "x" * 400, "Text"),
        "<item><title>Half",
        tail="",
    )

    said = run(path)

    assert Post.objects.filter(title__in=["Good", "Con trol", "Lost"]).count() == 3
    assert Post.objects.filter(title="x" * 300).exists()
    assert not Post.objects.filter(title="Twice").exists()
    assert "damaged after item 5" in said
    assert ImportLine.objects.filter(
        message__contains="The parent is missing from the source"
    ).exists()


def test_files_outside_of_the_folder_are_never_read(tmp_path):
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(make.picture(kind="JPEG"))
    media = tmp_path / "media"
    media.mkdir()
    (media / "link.jpg").symlink_to(secret)
    path = export(
        tmp_path,
        item(1, "Post", f'<img src="{UPLOADS}/../../secret.jpg"><img src="{UPLOADS}/link.jpg">'),
    )

    run(path, media=str(media), fetch=False)

    assert Asset.objects.count() == 0
    assert Post.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss>&b;</rss>',
            "XML entities",
        ),
        (
            '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss>&a;</rss>',
            "XML entities",
        ),
        ("no xml at all", "not a WordPress export"),
        ("<html><body>x</body></html>", "not a WordPress export"),
        ("", "not a WordPress export"),
    ],
)
def test_what_is_no_export_is_refused(tmp_path, content, words):
    path = tmp_path / "export.xml"
    path.write_text(content)

    with pytest.raises(CommandError, match=words):
        run(path)

    assert Post.objects.count() == 0


def test_other_encodings_are_read(tmp_path):
    head = HEAD.replace("UTF-8", "ISO-8859-1")
    path = tmp_path / "export.xml"
    path.write_bytes((head + item(1, "Kaffee für Müde", "Größe") + TAIL).encode("latin-1"))

    run(path)

    assert Post.objects.get().title == "Kaffee für Müde"


def test_covers_and_galleries_keep_their_words(tmp_path):
    cover = (
        '<!-- wp:cover {"url":"https://old.example/a.jpg"} --><div class="wp-block-cover">'
        '<p class="wp-block-cover-text">Words on a picture</p></div><!-- /wp:cover -->'
    )
    gallery = (
        '<!-- wp:gallery --><ul class="wp-block-gallery">'
        f'<li><figure><img src="{UPLOADS}/one.jpg"/></figure></li></ul>'
        '<figcaption class="blocks-gallery-caption">Of the whole gallery</figcaption><!-- /wp:gallery -->'
    )
    run(export(tmp_path, item(1, "Post", "<!-- wp:paragraph --><p>A</p><!-- /wp:paragraph -->" + cover + gallery)),
        fetch=False)  # fmt: skip

    content = str([module.props for module in load(Post.objects.get()).modules])
    assert "Words on a picture" in content
    assert "Of the whole gallery" in content


def test_what_does_not_come_in_is_named_and_languages_of_wpml_are_translations(tmp_path):
    group = {"_wpml_import_translation_group": "7"}
    said = run(
        export(
            tmp_path,
            item(1, "Tea", "Text", status="private", meta={
                **group, "_wpml_import_language_code": "en", "price": "3", "_hidden": "x"},
                extra="<wp:comment><wp:comment_content>Hi</wp:comment_content></wp:comment>"
                "<wp:post_password>secret</wp:post_password>"),
            item(2, "Tee", "Text", meta={**group, "_wpml_import_language_code": "de"}),
        )
    )  # fmt: skip

    tea, tee = Post.objects.get(title="Tea"), Post.objects.get(title="Tee")
    assert tee.locale == "de"
    assert tea.translation_group == tee.translation_group
    for words in (
        "Comments are not imported: 1", "left out: _hidden, price.", "It had a password",
        "status in the source: private",
    ):  # fmt: skip
        assert words in said, words
    assert "secret" not in said


def test_authors_are_the_accounts_with_their_addresses(tmp_path):
    anna = make.user("editor", "anna.writes")
    head = HEAD + (
        "<wp:author><wp:author_login>anna</wp:author_login>"
        f"<wp:author_email>{anna.email.upper()}</wp:author_email>"
        "<wp:author_display_name>Anna W.</wp:author_display_name></wp:author>"
        "<wp:author><wp:author_login>bo</wp:author_login><wp:author_email>bo@old.example</wp:author_email></wp:author>"
    )
    by_bo = item(2, "Two", "Text").replace("[anna]", "[bo]")

    said = run(export(tmp_path, item(1, "One", "Text"), by_bo, head=head))

    assert Post.objects.get(title="One").author == anna
    assert Post.objects.get(title="Two").author.role == "admin"
    assert "Author in the source: Anna W." in said
    assert "No account has the author’s email address bo@old.example" in said


def test_menus_of_block_themes_come_in(tmp_path):
    content = (
        '<!-- wp:navigation-link {"label":"<strong>About</strong>","type":"page","id":1,'
        '"url":"https://old.example/about/","kind":"post-type"} /-->'
        '<!-- wp:navigation-submenu {"label":"More","url":"https://else.example/"} -->'
        '<!-- wp:navigation-link {"label":"Deep","url":"https://else.example/deep"} /-->'
        "<!-- /wp:navigation-submenu --><!-- wp:page-list /-->"
    )
    path = export(
        tmp_path,
        item(1, "About", "Text", type="page"),
        item(9, "Header", content, type="wp_navigation"),
    )

    run(path)

    menu = Menu.objects.get(slug="header")
    about, more = menu.items
    assert (about["label"], about["postId"]) == ("About", str(Post.objects.get(title="About").pk))
    assert (more["label"], more["url"]) == ("More", "https://else.example/")
    assert [one["label"] for one in more["children"]] == ["Deep"]
    assert "menus: 1 unchanged" in run(path)


def test_an_attachment_whose_address_is_broken_harms_nothing(tmp_path):
    broken = attachment(7, "a.png").replace(UPLOADS, "http://[broken")
    head = HEAD + "<wp:base_blog_url>http://[nowhere</wp:base_blog_url>"
    run(export(tmp_path, item(1, "One", "Text"), broken, head=head), fetch=False)
    assert Post.objects.get().title == "One"


def test_footnotes_signs_of_percent_and_empty_blocks(tmp_path):
    content = (
        '<!-- wp:paragraph --><p>Tea<sup data-fn="a"><a href="#a">1</a></sup></p><!-- /wp:paragraph -->'
        '<!-- wp:footnotes /--><!-- wp:acme/rates {"data":{"x":"y"}} /-->'
    )
    meta = {
        "footnotes": '[{"content":"From <em>Assam</em>","id":"a"}]',
        "_yoast_wpseo_metadesc": "Save 50% on tea",
        "_yoast_wpseo_title": "%%title%% %%sep%%",
    }
    said = run(export(tmp_path, item(1, "Tea", content, meta=meta)))

    post = Post.objects.get()
    assert post.meta_description == "Save 50% on tea"
    assert "From Assam" in to_text(load(post).modules[0].props["content"])
    assert "left out: _yoast_wpseo_title." in said
    assert "block acme/rates, which has no text (1)" in said


def test_links_to_headings_with_anchors_lead_to_them(tmp_path):
    words = '<h2 class="wp-block-heading" id="sec">Our words</h2>'
    heading = f'<!-- wp:heading {{"anchor":"sec"}} -->\n{words}\n<!-- /wp:heading -->'
    there = '<!-- wp:paragraph -->\n<p><a href="https://old.example/two/#sec">There</a></p>\n<!-- /wp:paragraph -->'
    run(
        export(
            tmp_path,
            item(1, "One", there, type="page", link="https://old.example/one/"),
            item(2, "Two", heading, type="page", link="https://old.example/two/"),
        )
    )

    assert "'/two#our-words'" in str(load(Post.objects.get(title="One")).modules[0].props)
    assert "sec" not in str(load(Post.objects.get(title="Two")).modules[0].props)
