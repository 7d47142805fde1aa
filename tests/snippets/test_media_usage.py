"""Files of snippets and post templates count as used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from media.models import Asset, MediaReference
from media.services.files import delete_asset
from proofroom.core.errors import Conflict
from proofroom_apps.snippets.services import delete_snippet
from proofroom_apps.snippets.templates import delete_template
from tests import make

pytestmark = pytest.mark.django_db


def used() -> list[tuple[str, str, str]]:
    rows = MediaReference.objects.exclude(holder_kind="post").order_by("holder_kind", "path")
    return [(row.asset.filename, row.holder_kind, row.path) for row in rows]


def hero(image: Asset) -> dict[str, Any]:
    return {"type": "hero", "props": {"title": "Tea", "imageId": str(image.pk)}}


def test_files_of_a_snippet_count_as_used_until_it_is_changed_or_deleted() -> None:
    teapot, cup = make.image("teapot.png"), make.image("cup.png")
    tip = make.snippet(modules=[{"type": "callout", "props": {"title": "Tea"}}, hero(teapot)])
    assert used() == [("teapot.png", "snippet", "modules.1.props.imageId")]

    with pytest.raises(Conflict) as refusal:
        delete_asset(asset_id=teapot.pk, actor=make.actor("admin"))
    assert refusal.value.details == {
        "usedIn": ["Snippet “Newsletter tip”: modules.1.props.imageId"]
    }

    make.changed_snippet(tip, text=f"![A cup]({cup.file.url})")
    assert used() == [("cup.png", "snippet", "text")]
    make.changed_snippet(tip, name="Tea")
    call_command("rebuild_media_references")
    assert used() == [("cup.png", "snippet", "text")]
    delete_snippet(snippet_id=tip.pk, actor=make.actor())
    assert used() == []


def test_files_of_a_template_count_as_used() -> None:
    image = make.image("teapot.png")
    post = make.added_module(make.post(type="page"), **hero(image))
    recipe = make.template(post)
    path = f"modules.{len(recipe.modules) - 1}.props.imageId"
    assert used() == [("teapot.png", "post-template", path)]

    call_command("rebuild_media_references")
    assert used() == [("teapot.png", "post-template", path)]
    delete_template(template_id=recipe.pk, actor=make.actor())
    assert used() == []


def test_the_page_of_a_file_links_to_the_snippet(signed_in: Callable[..., Client]) -> None:
    image = make.image()
    tip = make.snippet(modules=[hero(image)])

    page = signed_in("editor").get(f"/admin/media/asset/{image.pk}/change/").content.decode()

    assert f"/admin/proofroom_snippets/snippet/{tip.pk}/change/" in page
    assert "Snippet “Newsletter tip”" in page
