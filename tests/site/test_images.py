"""Images on public pages: found in modules, loaded together, offered in every width."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from content.document.document import PostDocument
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from media.models import Asset
from media.services.files import store_image
from media.services.update import update_asset
from tests import make
from tests.site.test_pages import BLOG, text

pytestmark = pytest.mark.django_db


def image(name: str = "a.png") -> Asset:
    out = BytesIO()
    Image.new("RGB", (1000, 500), "teal").save(out, "PNG")
    out.seek(0)
    return store_image(file=out, filename=name, alt_text=f"Picture {name}", actor=make.actor())


def test_images_of_modules_and_the_featured_one_are_shown(client):
    shown, featured = image("shown.png"), image("featured.png")
    post = make.post(featuredMediaId=str(featured.pk))
    hero = make.module_id(post, "hero")

    def fill(document: PostDocument) -> PostDocument:
        return document_edits.update_module(document, hero, props={"imageId": str(shown.pk)})

    edit_post(post_id=post.pk, actor=make.actor(), edit=fill)
    with CaptureQueriesContext(connection) as queries:
        html = text(client.get(BLOG))

    large = f"/media/{shown.variants['large']}"
    assert f'<img src="{large}" alt="Picture shown.png" width="1000" height="500"' in html
    assert f"/media/{shown.variants['small']} 400w" in html
    assert (
        f'<meta property="og:image" content="http://127.0.0.1:8000/media/'
        f'{featured.variants["large"]}">' in html
    )
    assert len([query for query in queries if '"media_asset"."id" IN' in query["sql"]]) == 1
    assert len(queries) <= 6
    listed = text(client.get("/blog"))
    assert "Picture featured.png" in listed
    # From tablets on, cards are side by side: the requested width is that of one card.
    assert 'sizes="(min-width: 72rem) 19rem, (min-width: 46rem) 42vw, 85vw"' in listed


def test_a_post_without_a_featured_image_is_shared_with_the_picture_that_opens_it(client):
    opening, below = image("opening.png"), image("below.png")
    post = make.post()
    hero = make.module_id(post, "hero")

    def fill(document: PostDocument, picture: str) -> PostDocument:
        return document_edits.update_module(document, hero, props={"imageId": picture})

    def shared() -> str:
        html = text(client.get(BLOG))
        return str(html.partition('property="og:image" content="')[2].partition('"')[0])

    def add_below(document: PostDocument) -> PostDocument:
        props = {"imageId": str(below.pk)}
        return document_edits.add_module(document, type="prose-with-media", props=props)[0]

    edit_post(post_id=post.pk, actor=make.actor(), edit=add_below)
    assert shared() == ""
    edit_post(post_id=post.pk, actor=make.actor(), edit=lambda one: fill(one, str(opening.pk)))
    with CaptureQueriesContext(connection) as queries:
        assert shared().endswith(opening.variants["large"])
    assert len(queries) <= 6
    featured = image("featured.png")
    make.edited(post, {"featuredMediaId": str(featured.pk)})
    assert shared().endswith(featured.variants["large"])


def test_an_image_that_is_gone_leaves_the_page_whole(client):
    shown = image()
    post = make.post()
    hero = make.module_id(post, "hero")
    make.changed_module(post, hero, props={"imageId": str(shown.pk)})
    shown.delete()

    response = client.get(BLOG)

    assert response.status_code == 200
    assert "<img" not in text(response)


def opening(post: Post, asset: Asset) -> None:
    """Make the post start with the image."""
    hero = make.module_id(post, "hero")

    def fill(document: PostDocument) -> PostDocument:
        return document_edits.update_module(document, hero, props={"imageId": str(asset.pk)})

    edit_post(post_id=post.pk, actor=make.actor(), edit=fill)


def test_a_page_says_what_an_image_shows_in_its_own_language(client):
    asset = make.image(alt_text="A wall")
    update_asset(asset_id=asset.pk, actor=make.actor(), alt_texts={"de": "Eine Mauer"})
    post = make.post(featuredMediaId=str(asset.pk))
    german = make.post("Mauern", locale="de", translation_of=post, featuredMediaId=str(asset.pk))
    for each in (post, german):
        opening(each, asset)

    def shown() -> tuple[str, str, str]:
        english, german_page = text(client.get("/blog")), text(client.get(german.path))
        delivered = client.get(f"/api/public/posts/{german.pk}?fields=media").json()
        return (
            "A wall" if 'alt="A wall"' in english else "",
            "Eine Mauer" if 'alt="Eine Mauer"' in german_page else "",
            delivered["media"][str(asset.pk)]["alt"],
        )

    assert shown() == ("A wall", "Eine Mauer", "Eine Mauer")
    update_asset(asset_id=asset.pk, actor=make.actor(), is_decorative=True)
    assert shown() == ("", "", "")
    update_asset(asset_id=asset.pk, actor=make.actor(), alt_text="A brick wall")
    asset.refresh_from_db()
    assert asset.is_decorative is False
