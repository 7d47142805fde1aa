"""Media for users with a content scope: visible files, and allowed changes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from content.find_replace.hits import find_hits
from content.modules.global_modules import create_global
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from media.models import Asset
from media.services.crop import Box, crop_image
from media.services.files import delete_asset, replace_file, store_image
from media.services.player import set_poster
from media.services.update import categorize, update_asset
from media.services.variants import request_variants
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed
from tests import make
from tests.api_client import ApiClient
from tests.media.recordings import mp4
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture
def files() -> dict[str, Asset]:
    """Create one file per kind of usage, named after it."""
    make.site_role("pages", *LIMITABLE, scope=ContentScope(types=frozenset({"page"})))
    make.site_role(
        "reader",
        *LIMITABLE,
        scope=ContentScope(types=frozenset({"page"}), reads_all=True),
    )
    found = {
        name: make.image(f"{name}.png", alt_text=f"{name} words", categories=[name])
        for name in ("inside", "outside", "both", "waits", "hidden", "free", "shared")
    }
    ids = {name: str(asset.pk) for name, asset in found.items()}
    inside = make.post("Inside", type="page", featuredMediaId=ids["inside"])
    outside = make.post("Outside", featuredMediaId=ids["outside"])
    make.post("Both inside", type="page", featuredMediaId=ids["both"])
    make.post("Both outside", featuredMediaId=ids["both"])
    make.staged(inside, {"featuredMediaId": ids["waits"]})
    make.staged(outside, {"featuredMediaId": ids["hidden"]})
    address = f"/media/{found['shared'].file.name}"
    create_global(
        actor=make.actor("admin"), slug="shared", type="callout", props={"ctaUrl": address}
    )
    make.post("With it", featuredMediaId=ids["shared"])
    found["own"] = store_image(
        file=BytesIO(make.picture(colour="red")), filename="own.png", actor=make.actor("pages")
    )
    make.post("With own", featuredMediaId=str(found["own"].pk))
    return found


def call(tool: str, **arguments: Any) -> Any:
    principal = Principal(id="pages", user_id=make.user("pages").pk)
    return call_tool(principal, tool, arguments)


SEEN = {"inside", "both", "waits", "free", "shared", "own"}
CHANGEABLE = {"inside", "waits", "free"}
DOORS = [
    "/api/media?per_page=100",
    "/api/media?search=png&per_page=100",
    "/admin/media/asset/",
    "/admin/media/asset/?q=png",
    "/admin/media/asset/pick/",
    "/admin/media/asset/pick/?q=png",
    "/admin/media/asset/alt-texts/?language=de",
]


def named_in(text: str, files: dict[str, Asset]) -> set[str]:
    return {name for name in files if f"{name}.png" in text}


@pytest.mark.parametrize("address", DOORS)
def test_lists_hold_what_is_used_inside_unused_or_own(
    files: dict[str, Asset], address: str
) -> None:
    assert named_in(ApiClient("pages").get(address).content.decode(), files) >= SEEN - {"own"}
    assert not {"outside", "hidden"} & named_in(
        ApiClient("pages").get(address).content.decode(), files
    )
    assert named_in(ApiClient("reader").get(address).content.decode(), files) >= {
        "outside",
        "hidden",
    }


@pytest.mark.parametrize(
    ("who", "expected"), [("pages", {"inside"}), ("reader", {"inside", "outside"})]
)
def test_the_palette_finds_the_same(files: dict[str, Asset], who: str, expected: set[str]) -> None:
    client = ApiClient(who)

    found = [client.get(f"/admin/palette/?q={word}+words").content for word in expected]
    hidden = client.get("/admin/palette/?q=outside+words").content

    assert {name for name in expected if f"{name}.png".encode() in b"".join(found)} == expected
    assert (b"outside.png" in hidden) == ("outside" in expected)


def test_totals_and_categories_count_only_what_is_seen(files: dict[str, Asset]) -> None:
    listed = ApiClient("pages").get("/api/media?per_page=2").json()
    categories = ApiClient("pages").get("/api/media/categories?per_page=3").json()
    library = ApiClient("pages").get("/admin/media/asset/").content.decode()
    everything = ApiClient("reader").get("/api/media").json()

    assert listed["meta"]["total"] == len(SEEN)
    assert categories["meta"]["total"] == len(SEEN) - 1
    assert [row["name"] for row in categories["data"]] == ["both", "free", "inside"]
    assert "hidden (1)" not in library
    assert everything["meta"]["total"] == len(files)


@pytest.mark.parametrize("tool", ["list_media", "search_media", "list_media_categories"])
def test_tools_hold_the_same(files: dict[str, Asset], tool: str) -> None:
    arguments = {"q": "png"} if tool == "search_media" else {}

    found = str(call(tool, **arguments))

    assert "inside" in found
    assert "outside" not in found
    assert "hidden" not in found


@pytest.mark.parametrize("name", ["outside", "hidden"])
def test_a_file_outside_is_not_there(files: dict[str, Asset], name: str) -> None:
    file, client = files[name].pk, ApiClient("pages")
    before = Asset.objects.values().get(pk=file)
    paths = [f"/api/media/{file}", f"/api/media/{file}/where-used"]
    paths.append(f"/admin/media/asset/{file}/change/")
    paths.append(f"/admin/media/asset/{file}/delete/")

    assert [client.get(path).status_code for path in paths] == [404] * 4
    assert client.send("PATCH", f"/api/media/{file}", {"alt_text": "Mine"}).status_code == 404
    assert client.send("DELETE", f"/api/media/{file}?force=true").status_code == 404
    assert client.get(f"/admin/media/asset/states/?ids={file}").json() == {}
    assert "unknown_media" in str(call("get_media", id=str(file)))
    assert Asset.objects.values().get(pk=file) == before


def change(asset: Asset, actor: Actor) -> None:
    update_asset(asset_id=asset.pk, alt_text="Mine", actor=actor)


def put_in_category(asset: Asset, actor: Actor) -> None:
    categorize(asset_ids=[asset.pk], add=["mine"], actor=actor)


def replace(asset: Asset, actor: Actor) -> None:
    replace_file(
        asset_id=asset.pk,
        file=BytesIO(make.picture(colour="blue")),
        filename="mine.png",
        actor=actor,
    )


def cut(asset: Asset, actor: Actor) -> None:
    crop_image(asset_id=asset.pk, box=Box(0, 0, 0.5, 0.5), is_in_place=True, actor=actor)


def darken(asset: Asset, actor: Actor) -> None:
    request_variants(asset_id=asset.pk, theme="dark", actor=actor)


def delete(asset: Asset, actor: Actor) -> None:
    delete_asset(asset_id=asset.pk, force=True, actor=actor)


@pytest.mark.parametrize("write", [change, put_in_category, replace, cut, darken, delete])
@pytest.mark.parametrize("who", ["pages", "reader"])
def test_what_pages_outside_show_stays_as_it_is(
    files: dict[str, Asset],
    who: str,
    write: Callable[[Asset, Actor], None],
) -> None:
    actor = make.actor(who)
    refused = {"both", "shared", "own"} | ({"outside", "hidden"} if who == "reader" else set())
    for name in sorted(refused):
        before = Asset.objects.values().get(pk=files[name].pk)

        with pytest.raises(NotAllowed) as caught:
            write(files[name], actor)

        assert caught.value.code == "outside_of_scope"
        assert Asset.objects.values().get(pk=files[name].pk) == before
    for name in sorted(CHANGEABLE):
        write(files[name], actor)


def test_a_part_of_what_pages_outside_show_is_a_new_file(files: dict[str, Asset]) -> None:
    made = crop_image(asset_id=files["both"].pk, box=Box(0, 0, 0.5, 0.5), actor=make.actor("pages"))

    assert made.filename == "both-cropped.png"


def test_places_of_use_name_what_is_seen_and_count_the_rest(files: dict[str, Asset]) -> None:
    file, client = files["both"].pk, ApiClient("pages")

    places = client.get(f"/api/media/{file}/where-used").json()
    page = client.get(f"/admin/media/asset/{file}/change/").content.decode()
    everywhere = ApiClient("reader").get(f"/api/media/{file}/where-used").json()

    assert [(row["title"], places["meta"]["total"]) for row in places["data"]] == [
        ("Both inside", 1)
    ]
    assert "Both inside" in page
    assert "Both outside" not in page
    assert everywhere["meta"]["total"] == 2


def test_a_file_is_stored_again_if_its_twin_is_hidden(files: dict[str, Asset]) -> None:
    content = make.picture((31, 17))
    hidden = store_image(file=BytesIO(content), filename="hidden.png", actor=make.actor())
    make.post("Uses it", featuredMediaId=str(hidden.pk))

    own = store_image(
        file=BytesIO(content), filename="a.png", is_new_only=True, actor=make.actor("pages")
    )

    assert own.pk != hidden.pk


def test_the_statements_of_a_list_are_fixed(files: dict[str, Asset]) -> None:
    client = ApiClient("pages")
    client.get("/api/media")
    numbers = []
    for _more in range(2):
        numbers.append(count_queries(client.get, "/api/media"))
        for number in range(5):
            image = make.image(f"more-{_more}-{number}.png")
            make.post(f"More {_more} {number}", type="page", featuredMediaId=str(image.pk))

    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("who", ["pages", "reader"])
def test_find_and_replace_reaches_what_may_be_changed(files: dict[str, Asset], who: str) -> None:
    found = find_hits(actor=make.actor(who), find="words", replace="texts", tables=["media"])

    named = {
        name for name, asset in files.items() for hit in found.hits if hit.row == str(asset.pk)
    }
    assert named == CHANGEABLE


def test_posters_are_chosen_among_visible_files(files: dict[str, Asset], client: Any) -> None:
    user = make.user("pages")
    client.force_login(user)
    video = store_image(file=BytesIO(mp4()), filename="film.mp4", actor=Actor(user, "admin"))
    page = f"/admin/media/asset/{video.pk}/change/"
    offered = client.get(page).content.decode()
    assert {name for name in files if f">{name}.png</option>" in offered} == SEEN
    hidden = str(files["hidden"].pk)
    Asset.objects.filter(pk=video.pk).update(poster=hidden)

    shown = client.get(page).content.decode()

    # The present poster can stay, but its name is not told.
    assert (hidden in shown, "hidden.png" in shown) == (True, False)
    address = f"/admin/media/asset/{video.pk}/player/"
    assert client.post(address, {"poster": hidden}).status_code == 302
    assert client.post(address, {"poster": str(files["outside"].pk)}).status_code == 422


def test_a_poster_is_changed_by_those_who_may_change_its_video(files: dict[str, Asset]) -> None:
    admin, limited = make.actor("admin"), make.actor("pages")
    for at, place in enumerate(("inside", "outside", "free")):
        still = make.image(f"{place}-still.png")
        film = store_image(file=BytesIO(mp4(10.0 + at)), filename=f"{place}.mp4", actor=admin)
        set_poster(asset_id=film.pk, poster_id=still.pk, actor=admin)
        if place != "free":
            post = make.post(f"Film {place}", type="page" if place == "inside" else "blog")
            make.added_module(post, type="video", props={"mediaId": str(film.pk)})
        picture = BytesIO(make.picture(colour="red"))

        def replace(still: Asset = still, picture: BytesIO = picture) -> None:
            replace_file(asset_id=still.pk, file=picture, filename="new.png", actor=limited)

        if place == "outside":
            with pytest.raises(NotAllowed):
                replace()
            with pytest.raises(NotAllowed):
                delete_asset(asset_id=still.pk, actor=limited, force=True)
        else:
            replace()
        still.refresh_from_db()
        assert (still.filename == "new.png") is (place != "outside")
