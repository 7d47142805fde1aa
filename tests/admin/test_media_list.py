"""The media list in the admin: search, filters by category, type, state and use; multiple uploads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from media.models import Asset, AssetStatus
from media.services.update import update_asset
from proofroom.core.models import ListView
from tests import make
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/media/asset/"


def listed(client: Client, query: str = "") -> list[str]:
    """Return the names in the list, in order."""
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
    assert listed(client, "?state=problem") == ["wall.png"]
    assert listed(client, "?used=true") == ["wall.png"]
    assert listed(client, "?used=false") == ["floor.png"]
    page = client.get(LIST).content.decode()
    assert '<span class="badge badge-published">1 place</span>' in page
    table = client.get(f"{LIST}?view=table").content.decode()
    assert f'<a href="{LIST}{wall.pk}/change/#used">1 place</a>' in table
    assert client.get(f"{LIST}?category=%00&q=%00&used=x&type=%00").status_code == 400


def test_media_filters_find_files_that_need_attention(signed_in: SignedIn) -> None:
    tall = make.image("tall.png", alt_text="A tower")
    Asset.objects.filter(pk=tall.pk).update(width=100, height=200, size=6_000_000)
    mute = make.image("mute.png")
    actor = make.actor()
    update_asset(asset_id=tall.pk, actor=actor, alt_texts={"de": "Ein Turm"})
    line = make.image("line.png")
    update_asset(asset_id=line.pk, actor=actor, is_decorative=True)
    client = signed_in()
    uploader = make.user("admin").pk

    assert listed(client, "?words=en") == ["mute.png"]
    assert listed(client, "?words=de") == ["mute.png"]
    assert listed(client, "?words=decoration") == ["line.png"]
    assert listed(client, "?shape=tall") == ["tall.png"]
    assert listed(client, "?size=large") == ["tall.png"]
    assert listed(client, f"?by={uploader}&since=1") == ["line.png", "mute.png", "tall.png"]
    assert (
        listed(client, "?by=-1") == listed(client, "?since=2") == listed(client, "?words=fr") == []
    )
    page = client.get(f"{LIST}?o=-3&view=table").content.decode()
    assert '<option value="-size" selected>Largest first</option>' in page
    assert listed(client, "?o=-3&view=table")[0] == "tall.png"
    assert listed(client, "?o=1") == ["line.png", "mute.png", "tall.png"]
    assert listed(client, "?o=6") == ["tall.png", "mute.png", "line.png"]
    make.post(featuredMediaId=str(mute.pk))
    assert listed(client, "?o=-4")[0] == "mute.png"
    page = client.get(f"{LIST}?words=en&view=table").content.decode()
    assert '<a class="chip-link" href="?view=table">Alt text: <bdi>Missing in English' in page
    assert Asset.objects.get(pk=mute.pk).alt_text == ""


def test_filters_order_and_look_are_saved_as_a_view(signed_in: SignedIn) -> None:
    make.image("mute.png")
    client = signed_in("editor")
    asked = f"{LIST}?words=en&o=-3&view=table"
    assert client.get(asked).content.decode().count("Save view</summary>") == 1

    answer = client.post(asked.replace("-3", "-size"), {"list_view": "save", "name": "To describe"})

    view = ListView.objects.get()
    assert (view.list_name, view.query) == ("media.asset", "o=-size&view=table&words=en")
    page = client.get(answer["Location"]).content.decode()
    assert f'<a href="{answer["Location"]}" aria-current="page"><bdi>To describe</bdi></a>' in (
        page.replace("&amp;", "&")
    )
    assert '<table class="media-table">' in page
    assert f'<input type="hidden" name="saved" value="{view.pk}">' in page
    # This list has no column menu.
    assert 'value="columns"' not in page
    client.post(answer["Location"], {"list_view": "columns", "order": ["filename"]})
    assert ListView.objects.get().columns == []
    changed = client.get(f"{answer['Location']}&shape=tall").content.decode()
    assert '<span class="view-changed">Edited</span>' in changed

    client.post(answer["Location"], {"list_view": "opening"})

    assert client.get(LIST)["Location"] == answer["Location"]
    bare = client.get(f"{LIST}?saved=all&shape=tall&view=table").content.decode()
    assert '<input type="hidden" name="saved" value="all">' in bare
    assert '<a href="?saved=all&amp;view=table">Show all files</a>' in bare


def bulk(client: Client, do: str, *assets: Asset, **more: str) -> Any:
    ids = [str(asset.pk) for asset in assets]
    return client.post(f"{LIST}bulk/", {"do": do, "ids": ids, **more})


def test_bulk_deletion_asks_first_and_keeps_used_files(
    signed_in: SignedIn,
) -> None:
    used, free, other = (make.image(name) for name in ("used.png", "free.png", "other.png"))
    make.post(featuredMediaId=str(used.pk))
    client = signed_in()

    asked = bulk(client, "delete", used, free).content.decode()
    assert "Delete 2 files" in asked
    assert "1 of these files is in use." in asked
    assert Asset.objects.count() == 3
    done = bulk(client, "delete", used, free, confirmed="1", back=f"{LIST}?view=table")

    assert done["Location"] == f"{LIST}?view=table"
    told = [str(message) for message in client.get(LIST).context["messages"]]
    assert told == [
        "Could not delete used.png. The file is in use in one place.",
        "Deleted 1 file.",
    ]
    assert set(Asset.objects.values_list("filename", flat=True)) == {"used.png", "other.png"}
    bulk(client, "delete", used, other, confirmed="1", force="on")
    assert not Asset.objects.exists()


def test_several_get_categories(signed_in: SignedIn) -> None:
    first, second = make.image("a.png", categories=["old", "kept"]), make.image("b.png")
    client = signed_in()

    assert (
        "Current categories: kept, old"
        in bulk(client, "categories", first, second).content.decode()
    )
    answer = bulk(client, "categories", first, second, confirmed="1", add="new", remove="old")
    refused = bulk(client, "categories", first, second, confirmed="1", add="x" * 61)

    assert (answer["Location"], refused.status_code) == (LIST, 422)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.categories, second.categories) == (["kept", "new"], ["new"])


@pytest.mark.parametrize("do", ["delete", "categories"])
def test_bulk_actions_change_nothing_without_permission_or_selection(
    signed_in: SignedIn, do: str
) -> None:
    asset, client = make.image("a.png", categories=["old"]), signed_in("translator")

    sent = {"confirmed": "1", "force": "on", "remove": "old"}
    assert bulk(client, do, asset, **sent).status_code == 403
    editor = signed_in("editor")
    burnt: dict[str, Any] = {"ids": [str(asset.pk)] * 3, "do": "burn"}
    none: list[dict[str, Any]] = [{"ids": []}, {"ids": ["x", "\u202e"]}]
    for hostile in (*none, burnt):
        answer = editor.post(f"{LIST}bulk/", {"do": do, "back": "//example.com", **sent, **hostile})
        assert (answer.status_code, answer["Location"]) == (302, LIST)

    asset.refresh_from_db()
    assert asset.categories == ["old"]


def test_a_longer_list_takes_no_more_statements(signed_in: SignedIn) -> None:
    client, counts = signed_in(), []
    for _ in range(2):
        for _number in range(3):
            make.post(f"Post {Asset.objects.count()}", featuredMediaId=str(make.image().pk))
        client.get(LIST)
        counts.append(page_queries(client, LIST))
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
    assert told[0::2] == ["Uploaded 0.png.", "Uploaded 2.png."]
    assert told[1].startswith("1.png: ")
    assert listed(client) == ["2.png", "0.png"]
    assert {tuple(asset.categories) for asset in Asset.objects.all()} == {("walls",)}


def test_one_text_is_not_said_of_several_files(signed_in: SignedIn) -> None:
    client = signed_in()

    answer = upload(client, make.picture(), make.picture(), alt_text="A wall")
    many = upload(client, *[make.picture()] * 21)

    assert (answer.status_code, many.status_code) == (422, 422)
    assert "add alt text on each file’s page" in answer.content.decode()
    assert "At most 20 files at once." in many.content.decode()
    assert Asset.objects.count() == 0


def test_permitted_users_see_upload_beside_the_title(signed_in: SignedIn) -> None:
    make.image()

    tools = {
        role: re.findall(
            r'<ul class="object-tools">(.*?)</ul>',
            signed_in(role).get(LIST).content.decode(),
            re.DOTALL,
        )
        for role in ("admin", "translator")
    }

    assert [len(found) for found in tools.values()] == [1, 1]
    assert (
        'class="addlink" href="/admin/media/asset/add/" data-upload>Upload</a>' in tools["admin"][0]
    )
    assert tools["translator"] == [""]
