"""The list of media in the admin: searched, narrowed to category, type, state and use; several uploads at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from media.models import Asset, AssetStatus
from media.services.update import update_asset
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/media/asset/"


def listed(client: Client, query: str = "") -> list[str]:
    """The names in the list, in order."""
    found: Any = client.get(f"{LIST}{query}").context["cl"].result_list
    return [asset.filename for asset in found]


def test_the_list_is_searched_and_narrowed(signed_in: SignedIn) -> None:
    wall = make.image("wall.png", categories=["walls"])
    make.image("floor.png", alt_text="Beside a wall", categories=["floors"])
    update_asset(asset_id=wall.pk, actor=make.actor(), description="Brick")
    Asset.objects.filter(pk=wall.pk).update(status=AssetStatus.FAILED)
    make.post(featuredMediaId=str(wall.pk))
    client = signed_in()

    assert listed(client) == ["floor.png", "wall.png"]
    assert sorted(listed(client, "?q=wall")) == ["floor.png", "wall.png"]
    assert listed(client, "?q=brick") == ["wall.png"]
    assert listed(client, "?category=floors") == ["floor.png"]
    assert listed(client, "?type=image") == ["floor.png", "wall.png"]
    assert listed(client, "?type=application/pdf") == []
    assert listed(client, "?status__exact=failed") == ["wall.png"]
    assert listed(client, "?used=true") == ["wall.png"]
    assert listed(client, "?used=false") == ["floor.png"]
    page = client.get(LIST).content.decode()
    assert f'<a href="{LIST}{wall.pk}/change/#used">1 place</a>' in page
    assert client.get(f"{LIST}?category=%00&q=%00&used=x&type=%00").status_code == 400


def test_a_longer_list_takes_no_more_statements(signed_in: SignedIn) -> None:
    client, counts = signed_in(), []
    for _ in range(2):
        for _number in range(3):
            make.post(f"Post {Asset.objects.count()}", featuredMediaId=str(make.image().pk))
        client.get(LIST)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def upload(client: Client, *contents: bytes, **typed: str) -> Any:
    files = [
        SimpleUploadedFile(f"{number}.png", content) for number, content in enumerate(contents)
    ]
    return client.post(f"{LIST}add/", {"file": files, **typed})


def test_several_files_come_at_once_and_a_bad_one_keeps_none_out(signed_in: SignedIn) -> None:
    client = signed_in()

    answer = upload(client, make.picture(), b"MZ", make.picture(), categories="walls")

    assert (answer.status_code, answer["Location"]) == (302, LIST)
    told = [str(message) for message in client.get(LIST).context["messages"]]
    assert told[0::2] == ["The file 0.png is there.", "The file 2.png is there."]
    assert told[1].startswith("The file 1.png: ")
    assert listed(client) == ["2.png", "0.png"]
    assert {tuple(asset.categories) for asset in Asset.objects.all()} == {("walls",)}


def test_one_text_is_not_said_of_several_files(signed_in: SignedIn) -> None:
    client = signed_in()

    answer = upload(client, make.picture(), make.picture(), alt_text="A wall")
    many = upload(client, *[make.picture()] * 21)

    assert (answer.status_code, many.status_code) == (422, 422)
    assert "say what each shows on its own page" in answer.content.decode()
    assert "At most 20 files at once." in many.content.decode()
    assert Asset.objects.count() == 0
