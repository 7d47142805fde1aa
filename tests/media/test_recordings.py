"""Videos and audio files are known by their content, lose their metadata, and play with poster and captions."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from content.posts.edit import edit_post
from content.store import document_edits
from media.captions import clean_captions
from media.models import Asset, MediaReference, StoredFile
from media.presenters import format_duration, present_asset
from media.services.files import delete_asset, replace_file
from media.services.player import set_captions, set_poster
from proofroom.core.errors import Conflict, RuleViolation
from tests import make
from tests.api_client import ApiClient
from tests.media.pictures import picture, refused, store
from tests.media.recordings import (
    SECRET,
    VTT,
    crafted_mp4,
    crafted_wav,
    crafted_webm,
    mp3,
    mp4,
    ogg,
    wav,
    webm,
)

pytestmark = pytest.mark.django_db


def content_of(asset: Asset) -> bytes:
    return (Path(django_settings.MEDIA_ROOT) / asset.file.name).read_bytes()


@pytest.mark.parametrize(
    ("content", "mime", "suffix", "duration", "size"),
    [
        (mp4(), "video/mp4", ".mp4", 7.5, (640, 360)),
        (mp4(codec=b"mp4a"), "audio/mp4", ".m4a", 7.5, (None, None)),
        (webm(), "video/webm", ".webm", 4.0, (320, 180)),
        (webm(codec=b"A_OPUS"), "audio/webm", ".weba", 4.0, (None, None)),
        (mp3(), "audio/mpeg", ".mp3", 2.612, (None, None)),
        (wav(), "audio/wav", ".wav", 2.0, (None, None)),
        (ogg(), "audio/ogg", ".ogg", 3.0, (None, None)),
    ],
)
def test_the_content_decides_and_nothing_private_stays(
    content: bytes, mime: str, suffix: str, duration: float, size: Any
) -> None:
    asset = store(content, "photo.jpg")

    assert (asset.mime, (asset.width, asset.height)) == (mime, size)
    assert asset.duration == pytest.approx(duration, abs=0.001)
    assert asset.file.name.endswith(suffix)
    assert SECRET not in content_of(asset)
    assert asset.variants == {}
    assert asset.size == len(content_of(asset))
    # What is stored is read again the same way.
    again = store(content_of(asset), "again.bin")
    assert (again.mime, again.duration) == (asset.mime, asset.duration)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (mp4()[:-1], "damaged_file"),
        (mp4().replace(b"moov", b"free"), "damaged_file"),
        (mp4(codec=b"tx3g"), "media_type"),
        (mp4().replace(b"mvhd", b"mvh\xff")[:300], "damaged_file"),
        (webm(doc_type=b"matroska"), "media_type"),
        (webm(codec=b"V_MPEG4"), "media_type"),
        (webm()[:-5], "damaged_file"),
        (b"\x1a\x45\xdf\xa3", "damaged_file"),
        (mp3(3), "damaged_file"),
        (b"ID3\x04\x00\x00\x00\x00\x00\x00<script>alert(1)</script>" * 9, "damaged_file"),
        (mp3() + b"<html>" * 40_000, "damaged_file"),
        (ogg().replace(b"OpusHead", b"\x80theora."), "media_type"),
        (ogg()[:-1], "damaged_file"),
        (wav().replace(b"data", b"dat\xff"), "damaged_file"),
        (b"RIFF\xff\xff\xff\xffWAVEfmt ", "damaged_file"),
        (b"<html>" + mp4(), "media_type"),
        pytest.param(crafted_mp4(), "damaged_file", id="nested boxes"),
        pytest.param(crafted_webm(), "damaged_file", id="nested elements"),
        pytest.param(crafted_wav(), "damaged_file", id="empty chunks"),
    ],
)
def test_a_file_that_is_not_what_it_says_leaves_nothing(content: bytes, code: str) -> None:
    assert refused(content, code, filename="film.mp4").status == 422


def test_recordings_have_a_limit_of_their_own(settings: Any) -> None:
    limits = {"media_max_bytes": 100, "media_max_recording_bytes": 5_000}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=limits)

    assert refused(mp4() + bytes(5_000), "too_large").status == 413
    assert refused(picture(), "too_large").status == 413
    assert store(mp4()).mime == "video/mp4"


def test_poster_and_captions_are_set_shown_and_forgotten(django_assert_num_queries: Any) -> None:
    video, image = store(mp4(), "brew.mp4"), make.image("cup.png")
    actor = make.actor("editor")

    set_poster(asset_id=video.pk, poster_id=image.pk, actor=actor)
    set_captions(asset_id=video.pk, captions={"en": VTT.replace("\n", "\r\n")}, actor=actor)

    video.refresh_from_db()
    with django_assert_num_queries(0):
        shown = present_asset(video)
    assert (shown["duration"], shown["poster"]) == (7.5, str(image.pk))
    assert list(shown["captions"]) == ["en"]
    name = video.captions["en"]
    assert (Path(django_settings.MEDIA_ROOT) / name).read_text() == VTT
    # A poster is in use, and a deletion against advice takes it away.
    with pytest.raises(Conflict) as caught:
        delete_asset(asset_id=image.pk, actor=actor)
    assert caught.value.details == {"usedIn": ["brew.mp4: poster"]}
    delete_asset(asset_id=image.pk, actor=actor, force=True)
    video.refresh_from_db()
    assert (video.poster, video.poster_file) == (None, "")
    # Another recording keeps the captions.
    replace_file(asset_id=video.pk, file=BytesIO(webm()), filename="b.webm", actor=actor)
    assert StoredFile.objects.get(name=name).due_at is None
    set_captions(asset_id=video.pk, captions={"en": ""}, actor=actor)
    assert StoredFile.objects.get(name=name).due_at is not None
    for wrong in ({"xx": VTT}, {"en": "1\n00:00"}):
        with pytest.raises(RuleViolation) as refusal:
            set_captions(asset_id=video.pk, captions=wrong, actor=actor)
        assert list(refusal.value.details) == ["captions"]
    with pytest.raises(RuleViolation):
        set_poster(asset_id=video.pk, poster_id=video.pk, actor=actor)
    with pytest.raises(RuleViolation):
        set_captions(asset_id=make.image().pk, captions={"en": VTT}, actor=actor)
    assert not MediaReference.objects.exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("00:00.500 --> 00:02.000\nx", None),
        ("WEBVTT\n\nnothing", None),
        ("WEBVTT\n\n00:02.000 --> 00:01.000\nx", 3),
        ("WEBVTT\n\n00:02,000 --> 00:03,000\nx", 3),
        ("WEBVTT\n\n00:02.000 --> 00:03.000\nx\n\n00:01.000 --> 00:03.000\ny", 6),
        ("WEBVTT\n\n00:02.000 --> 00:03.000\nx\x00", 4),
        ("WEBVTT\n\n" + "x" * 500_000, None),
    ],
)
def test_captions_are_checked(text: str, line: int | None) -> None:
    with pytest.raises(RuleViolation) as caught:
        clean_captions(text)

    assert list(caught.value.details) == ["captions"]
    assert (f"Line {line} " in caught.value.message) is (line is not None)


def test_a_file_of_another_type_loses_its_poster_and_its_place_as_one() -> None:
    actor = make.actor("editor")
    video, image = store(mp4(), "brew.mp4"), make.image("cup.png")
    set_poster(asset_id=video.pk, poster_id=image.pk, actor=actor)

    replace_file(asset_id=image.pk, file=BytesIO(webm()), filename="cup.webm", actor=actor)

    video.refresh_from_db()
    assert (video.poster, video.poster_file) == (None, "")
    still = make.image("still.png")
    set_poster(asset_id=video.pk, poster_id=still.pk, actor=actor)
    # A picture remains one, of another file.
    replace_file(asset_id=still.pk, file=BytesIO(picture()), filename="a.png", actor=actor)
    video.refresh_from_db()
    assert video.poster == still.pk

    replace_file(asset_id=video.pk, file=BytesIO(picture()), filename="b.png", actor=actor)

    assert Asset.objects.filter(pk=video.pk, poster=None, poster_file="").exists()
    assert not MediaReference.objects.filter(holder_kind="media").exists()


def test_the_api_takes_and_answers_poster_and_captions() -> None:
    video, image, client = store(mp4()), make.image(), ApiClient("editor")
    address = f"/api/media/{video.pk}"
    body = {"poster": str(image.pk), "captions": {"en": VTT}, "alt_text": "Brewing"}

    client.write("PATCH", address, body)

    read = client.read(address)
    assert (read["duration"], read["poster"]) == (7.5, str(image.pk))
    # What was read can be put back.
    client.write("PATCH", address, read)
    assert client.read(address)["captions"] == read["captions"]
    for wrong in ({"captions": {"en": "no"}}, {"captions": {"xx": VTT}}, {"poster": str(video.pk)}):
        answer = client.write("PATCH", address, wrong, expect=422)
        assert list(answer["details"]) == [*wrong]
    both = {"alt_text": "Other", "captions": {"en": "no"}}
    client.write("PATCH", address, both, expect=422)
    assert client.read(address)["alt_text"] == "Brewing"
    client.write("PATCH", address, {"captions": {"en": None}, "poster": None})
    gone = client.read(address)
    assert (gone["captions"], gone["poster"]) == ({}, None)


def with_video(asset: Asset, **props: Any) -> Any:
    def fill(document: Any) -> Any:
        document, _ = document_edits.add_module(
            document, type="video", index=1, props={"mediaId": str(asset.pk), **props}
        )
        return document

    post = make.post(f"Brewing {asset.filename}")
    return edit_post(post_id=post.pk, actor=make.actor("admin"), edit=fill)


def test_a_page_plays_a_recording_with_its_name_poster_and_captions(client: Any) -> None:
    video, sound = store(mp4(), "a.mp4", alt_text="How to brew"), store(mp3(), "b.mp3")
    image, actor = make.image("cup.png"), make.actor("admin")
    set_poster(asset_id=video.pk, poster_id=image.pk, actor=actor)
    set_captions(asset_id=video.pk, captions={"en": VTT, "de": VTT}, actor=actor)
    post = with_video(video)
    page = client.get(post.path).content.decode()

    video.refresh_from_db()
    player = page[page.index("<video") : page.index("</video>")]
    assert 'aria-label="How to brew"' in player
    assert 'preload="metadata"' in player
    assert "autoplay" not in player
    assert f'poster="/media/{image.file.name}"' in player
    assert f'<source src="/media/{video.file.name}" type="video/mp4">' in player
    tracks = [part for part in player.split("<") if part.startswith("track")]
    assert [('srclang="en"' in one, 'srclang="de"' in one) for one in tracks] == [
        (True, False), (False, True),
    ]  # fmt: skip
    heard = client.get(with_video(sound, title="A talk").path).content.decode()
    assert '<audio controls preload="metadata" aria-label="A talk"' in heard
    # An image is no recording, and a recording is no image.
    assert 'class="player' not in client.get(with_video(image).path).content.decode()
    delivered = client.get(f"/api/public/media/{video.pk}").json()
    assert (delivered["duration"], delivered["poster"]) == (7.5, f"/media/{image.file.name}")
    assert delivered["captions"] == {
        locale: f"/media/{name}" for locale, name in video.captions.items()
    }
    assert finders.find("cms/modules/video.css")


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        ("bytes=0-99", 206, (0, 99)), ("bytes=100-", 206, (100, 2999)), ("bytes=-50", 206, (2950, 2999)),
        ("bytes=2990-9999", 206, (2990, 2999)), ("bytes=-9999", 206, (0, 2999)), ("bytes=3000-", 416, None),
        ("bytes=-0", 416, None), ("bytes=0-1,5-6", 200, None), ("bytes=9-5", 200, None), ("items=0-1", 200, None),
        ("bytes=-", 200, None), ("bytes=٣-٤", 200, None),
    ],
)  # fmt: skip
def test_a_player_gets_the_part_it_asks_for(
    client: Any, asked: str, status: int, expected: tuple[int, int] | None
) -> None:
    content = bytes(number % 251 for number in range(3000))
    path = Path(django_settings.MEDIA_ROOT) / "ab" / "film.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

    answer = client.get("/media/ab/film.mp4", headers={"Range": asked})

    assert answer.status_code == status
    if expected:
        begin, end = expected
        assert b"".join(answer.streaming_content) == content[begin : end + 1]
        assert answer.headers["Content-Range"] == f"bytes {begin}-{end}/3000"
        assert answer.headers["Content-Length"] == str(end - begin + 1)
        assert answer.headers["Content-Type"] == "video/mp4"
        assert "sandbox" in answer.headers["Content-Security-Policy"]
    elif status == 416:
        assert answer.headers["Content-Range"] == "bytes */3000"
    else:
        assert b"".join(answer.streaming_content) == content
        assert answer.headers["Accept-Ranges"] == "bytes"


def test_a_part_is_of_the_same_version_and_the_rest_is_not_read(client: Any) -> None:
    path = Path(django_settings.MEDIA_ROOT) / "big.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:  # a file of holes: reading all of it would take minutes
        file.truncate(1 << 40)

    answer = client.get("/media/big.mp4", headers={"Range": f"bytes={(1 << 40) - 10}-"})

    assert answer.status_code == 206
    assert [len(part) for part in answer.streaming_content] == [10]
    version = answer.headers["Last-Modified"]
    for condition, status in ((version, 206), ('"other"', 200)):
        headers = {"Range": "bytes=0-4", "If-Range": condition}
        assert client.get("/media/big.mp4", headers=headers).status_code == status
    assert client.head("/media/big.mp4", headers={"Range": "bytes=0-4"}).status_code == 200


def test_the_library_shows_duration_and_poster_and_saves_them(client: Any) -> None:
    client.force_login(make.user("editor"))
    video, image = store(mp4(187), "film.mp4"), make.image("cup.png")
    page = client.get(reverse("admin:media_asset_change", args=[video.pk])).content.decode()
    assert "<video" in page
    assert "<dd>3:07</dd>" in page
    address = reverse("admin:media_asset_player", args=[video.pk])

    wrong = client.post(address, {"captions_en": SimpleUploadedFile("a.vtt", b"nothing")})
    saved = client.post(
        address, {"poster": str(image.pk), "captions_en": SimpleUploadedFile("a.vtt", VTT.encode())}
    )

    assert wrong.status_code == 422
    assert "WEBVTT" in wrong.content.decode()
    assert saved.status_code == 302
    video.refresh_from_db()
    assert (video.poster, list(video.captions)) == (image.pk, ["en"])
    listed = client.get(reverse("admin:media_asset_changelist")).content.decode()
    assert "3:07" in listed
    picked = client.get(
        reverse("admin:media_asset_pick"), {"kind": "recording"}, headers={"X-Fragment": "1"}
    ).content.decode()
    assert "film.mp4" in picked
    assert "cup.png" not in picked
    own = reverse("admin:media_asset_change", args=[video.pk])
    assert client.post(own, {"alt_text": "How to brew", "categories": ""}).status_code == 302
    assert Asset.objects.get(pk=video.pk).alt_text == "How to brew"
    removed = client.post(address, {"poster": "", "remove_captions_en": "on"})
    assert removed.status_code == 302
    video.refresh_from_db()
    assert (video.poster, video.captions) == (None, None)


def test_durations_are_written_as_players_show_them() -> None:
    assert [format_duration(one) for one in (0.4, 59.6, 187, 3765)] == [
        "0:00", "1:00", "3:07", "1:02:45",
    ]  # fmt: skip


@pytest.mark.usefixtures("variants_later")
def test_each_of_twenty_uploads_costs_the_same(client: Any, django_assert_num_queries: Any) -> None:
    client.force_login(make.user("editor"))
    address, found = reverse("admin:media_asset_upload"), []

    def upload(number: int) -> None:
        content = picture("PNG", (40 + number, 20))
        answer = client.post(address, {"file": SimpleUploadedFile("a.png", content)})
        assert answer.status_code == 201
        found.append(answer.json()["id"])

    upload(0)
    with CaptureQueriesContext(connection) as first:
        upload(1)
    cost = len(first)
    for number in range(2, 19):
        upload(number)
    with django_assert_num_queries(cost):
        upload(19)

    with CaptureQueriesContext(connection) as asked:
        states = client.get(reverse("admin:media_asset_states"), {"ids": ",".join(found)})
        statements = [one["sql"] for one in asked]
    assert {*states.json()} == {*found}
    assert len([sql for sql in statements if "media_asset" in sql]) == 1
