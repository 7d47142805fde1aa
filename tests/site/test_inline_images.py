"""Images on pages have fitting sizes; images in text refer to the current file, or are omitted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.edit import edit_post
from media.images import frames_of
from media.models import Asset, AssetStatus
from media.presenters import site_image
from media.services.files import delete_asset
from media.services.update import update_asset
from tests import make
from tests.conftest import RunOnCommit
from tests.media.pictures import moving, opened, store

pytestmark = pytest.mark.django_db
BLOG = "/blog/how-to-brew-filter-coffee"


def ready(**values: Any) -> Asset:
    """Create an image 1,000 pixels wide with its variants."""
    asset = make.image(alt_text="A wall")
    names = {"status": AssetStatus.READY, "width": 1000, "height": 500, **values}
    Asset.objects.filter(pk=asset.pk).update(**names)
    asset.refresh_from_db()
    return asset


def shown(client: Client, markdown: str) -> str:
    """Return the page of a post with this text."""
    post = Post.objects.filter(slug="how-to-brew-filter-coffee").first() or make.post()
    prose = make.module_id(post, "prose")
    make.changed_module(post, prose, content_markdown=markdown, by=make.actor("admin"))
    return client.get(BLOG).content.decode()


def srcset(asset: Asset) -> str:
    return (
        f"/media/{asset.variants['small']} 400w, /media/{asset.variants['medium']} 800w, "
        f"/media/{asset.variants['large']} 1000w"
    )


def test_an_image_in_text_has_its_shape_and_every_size(client: Client) -> None:
    asset = ready()

    html = shown(client, f"![Bricks](/media/{asset.file.name}) ![](/media/{asset.file.name})")

    image = (
        f'width="1000" height="500" srcset="{srcset(asset)}" '
        'sizes="(min-width: 44rem) 42rem, 100vw" loading="lazy" decoding="async">'
    )
    assert f'<img src="/media/{asset.variants["large"]}" alt="Bricks" {image}' in html
    assert f'<img src="/media/{asset.variants["large"]}" alt="A wall" {image}' in html


def test_until_its_sizes_are_there_the_file_itself_is_shown(client: Client) -> None:
    asset = ready(status=AssetStatus.PROCESSING)
    name = asset.variants["large"]
    asset.files.exclude(name=asset.file.name).delete()

    html = shown(client, f"![Bricks](http://127.0.0.1:8000/media/{name}?v=1)")

    assert (
        f'<img src="/media/{asset.file.name}" alt="Bricks" width="1000" height="500" load' in html
    )
    assert "srcset" not in html


def test_a_file_that_is_gone_shows_nothing_and_foreign_ones_stay(client: Client) -> None:
    asset = ready()
    text = (
        f"![Bricks](/media/{asset.file.name}) ![x](/media/none/none.png) "
        "![Elsewhere](https://images.example/a.png) ![Static](/static/a.png)"
    )
    before = shown(client, text)
    delete_asset(asset_id=asset.pk, actor=make.actor("admin"), force=True)

    after = client.get(BLOG).content.decode()

    assert before.count("<img") == 3
    assert after.count("<img") == 2
    assert 'src="https://images.example/a.png" alt="Elsewhere"' in after
    assert 'src="/static/a.png" alt="Static"' in after
    assert 'alt="Bricks"' not in after


def test_dark_pages_get_dark_images(client: Client) -> None:
    asset = ready(dark_variants={"small": "ab/dark-small.webp", "large": "ab/dark-large.webp"})

    html = shown(client, f"![Bricks](/media/{asset.file.name})")

    dark = "/media/ab/dark-small.webp 400w, /media/ab/dark-large.webp 1000w"
    assert (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}" '
        'sizes="(min-width: 44rem) 42rem, 100vw"><img src="' in html
    )
    assert html.count("<picture>") == html.count("</picture>") == 1


def test_images_in_texts_and_fields_take_one_query(client: Client) -> None:
    first, second = ready(), ready()
    post = make.post()
    hero = make.module_id(post, "hero")
    make.changed_module(post, hero, props={"imageId": str(second.pk)}, by=make.actor("admin"))
    shown(client, f"![Bricks](/media/{first.file.name})")
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: document.with_fields({"excerpt": "New"}),
    )

    with CaptureQueriesContext(connection) as queries:
        html = client.get(BLOG).content.decode()

    assert html.count("srcset=") >= 2
    asked = [query["sql"] for query in queries if 'FROM "media_asset"' in query["sql"]]
    assert len(asked) == 1
    assert len(queries) <= 6


@pytest.mark.parametrize(
    ("point", "classes"),
    [
        (None, ""),
        ((0, 0), "focal-x0 focal-y0"),
        ((0.5, 1), "focal-x2 focal-y4"),
        ((0.87, 0.2), "focal-x3 focal-y1"),
    ],
    ids=["none", "corner", "bottom", "between"],
)
def test_the_focal_point_is_a_word_of_the_style_sheet(
    client: Client, point: tuple[float, float] | None, classes: str
) -> None:
    asset = ready()
    update_asset(asset_id=asset.pk, actor=make.actor(), focal_point=point)
    asset.refresh_from_db()
    image = site_image(asset)
    post = make.post()
    hero = make.module_id(post, "hero")
    make.changed_module(post, hero, props={"imageId": str(asset.pk)}, by=make.actor("admin"))

    html = client.get(BLOG).content.decode()

    assert image is not None
    assert image["focal"] == classes
    assert (f' class="{classes}"' in html) == bool(classes)
    assert " style=" not in html


def test_what_moves_moves_on_the_page(client: Client, run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(moving("GIF", size=(1000, 600)))
    asset.refresh_from_db()

    html = shown(client, f"![Waves](/media/{asset.file.name})")

    image = re.search(r'<img src="([^"]+)" alt="Waves"[^>]* srcset="([^"]+)"', html)
    assert image is not None
    addresses = [image[1], *(one.split()[0] for one in image[2].split(","))]
    assert len(addresses) == 4
    assert {frames_of(opened(one.removeprefix("/media/"))) for one in addresses} == {3}
