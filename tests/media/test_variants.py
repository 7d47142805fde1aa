"""Variants are created by workers: once, retried after failures, and not endlessly."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image, ImageDraw

from media import file_store, render_variants, tasks
from media.models import Asset, StoredFile, VariantWork
from media.presenters import site_image
from media.services.files import replace_file
from media.services.variants import dark_status, request_variants
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.conftest import RunOnCommit
from tests.content.at_once import at_once
from tests.media.pictures import encoded, grey_png, moving, on_disk, opened, picture, store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("variants_later")]


def due_now() -> None:
    VariantWork.objects.update(due_at=timezone.now())


def break_file(asset: Asset) -> None:
    (Path(django_settings.MEDIA_ROOT) / str(asset.file.name)).write_bytes(b"\xff\xd8 broken")


def test_the_upload_answers_before_there_are_sizes(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(picture())

        assert asset.status == "processing"
        assert set(asset.variants) == {"large", "medium", "small"}
        assert len(on_disk()) == 1
        image = site_image(asset)
        assert image is not None
        assert (image["url"], image["srcset"]) == (f"/media/{asset.file.name}", "")
        planned = asset.variants

    asset.refresh_from_db()
    assert (asset.status, asset.variants) == ("ready", planned)
    assert [opened(planned[size]).size for size in ("large", "medium", "small")] == [
        (1600, 800),
        (800, 400),
        (400, 200),
    ]
    assert not VariantWork.objects.exists()
    assert not StoredFile.objects.exclude(asset=asset, due_at=None, is_deleted=False).exists()
    assert StoredFile.objects.count() == 4
    made = Event.objects.get(name="media.variants")
    assert (made.via, made.payload["did"], made.payload["theme"]) == ("system", "made", "light")


def test_what_a_lost_message_left_is_found_by_the_sweep() -> None:
    asset = store(picture("PNG", (500, 100)))

    assert tasks.sweep_variants() == 1

    asset.refresh_from_db()
    assert asset.status == "ready"
    assert tasks.sweep_variants() == 0
    assert render_variants.make_variants(asset.pk, "light") is False


def test_while_one_worker_is_at_it_no_other_is(monkeypatch) -> None:
    asset = store(picture("PNG", (50, 10)))
    seen = []
    write = render_variants._write

    def writing(of: Asset, theme: str) -> dict[str, str]:
        seen.append(render_variants.make_variants(of.pk, theme))
        assert tasks.sweep_variants() == 0
        return write(of, theme)

    monkeypatch.setattr(render_variants, "_write", writing)

    assert render_variants.make_variants(asset.pk, "light") is True
    assert seen == [False]
    assert Event.objects.filter(name="media.variants").count() == 1


@pytest.mark.services  # SQLite in memory refuses the second at once, instead of having it wait
@pytest.mark.django_db(transaction=True)
def test_of_two_workers_that_begin_together_one_makes_them() -> None:
    asset = store(picture("PNG", (50, 10)))
    VariantWork.objects.create(asset=asset, theme="dark", due_at=timezone.now())

    done = at_once(*[lambda: render_variants.make_variants(asset.pk, "dark")] * 2)

    assert sorted(map(bool, done)) == [False, True]
    assert Event.objects.filter(name="media.variants", payload__theme="dark").count() == 1
    asset.refresh_from_db()
    assert set(asset.dark_variants) == {"large", "medium", "small"}


def test_after_three_failures_it_is_given_up_and_says_why(caplog) -> None:
    asset = store(picture())
    break_file(asset)

    for attempt in (1, 2):
        assert render_variants.make_variants(asset.pk, "light") is False
        work = VariantWork.objects.get()
        assert (work.attempts, work.is_given_up) == (attempt, False)
        waits = (work.due_at - timezone.now()).total_seconds()
        assert 30 * attempt - 5 < waits <= 30 * attempt
        asset.refresh_from_db()
        assert asset.status == "processing"
        assert render_variants.make_variants(asset.pk, "light") is False  # not before its time
        due_now()
    render_variants.make_variants(asset.pk, "light")

    asset.refresh_from_db()
    work = VariantWork.objects.get()
    assert (asset.status, work.attempts, work.is_given_up) == ("failed", 3, True)
    assert work.reason.startswith("UnidentifiedImageError")
    assert str(django_settings.MEDIA_ROOT) not in work.reason
    assert "gave up making" in caplog.text
    due_now()
    assert tasks.sweep_variants() == 0
    image = site_image(asset)
    assert image is not None
    assert image["srcset"] == ""
    assert Event.objects.get(name="media.variants").payload["did"] == "failed"


def test_a_worker_that_is_killed_each_time_does_not_try_for_ever(monkeypatch) -> None:
    class Killed(BaseException):
        pass

    def killed(of: Asset, theme: str) -> dict[str, str]:
        file_store.reserve(file_store.planned_variants(str(of.file.name)).values())
        raise Killed

    asset = store(picture("PNG", (50, 10)))
    monkeypatch.setattr(render_variants, "_write", killed)

    for _ in range(3):
        with pytest.raises(Killed):
            render_variants.make_variants(asset.pk, "light")
        asset.refresh_from_db()
        assert asset.status == "processing"
        due_now()
    assert render_variants.make_variants(asset.pk, "light") is False

    asset.refresh_from_db()
    assert asset.status == "failed"
    assert VariantWork.objects.get().reason == "No worker came to its end with it."


def test_what_a_killed_worker_wrote_is_deleted_later(monkeypatch) -> None:
    asset = store(picture("PNG", (50, 10)))
    put = file_store.put

    def dies(name: str, content: bytes) -> None:
        put(name, content)
        raise KeyboardInterrupt

    monkeypatch.setattr(file_store, "put", dies)
    with pytest.raises(KeyboardInterrupt):
        render_variants.make_variants(asset.pk, "light")
    assert len(on_disk()) == 2

    StoredFile.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
    assert file_store.delete_due_files() == 3

    assert [path.name for path in on_disk()] == [str(asset.file.name).rpartition("/")[2]]
    monkeypatch.setattr(file_store, "put", put)
    due_now()
    assert render_variants.make_variants(asset.pk, "light") is True
    assert len(on_disk()) == 4


def test_a_file_that_is_replaced_meanwhile_keeps_no_sizes_of_the_old_one(monkeypatch) -> None:
    asset = store(picture("PNG", (50, 10)))
    write = render_variants._write

    def replaced_meanwhile(of: Asset, theme: str) -> dict[str, str]:
        names = write(of, theme)
        from io import BytesIO

        replace_file(
            asset_id=of.pk,
            file=BytesIO(picture("PNG", (60, 30))),
            filename="new.png",
            actor=make.actor("editor"),
        )
        return names

    monkeypatch.setattr(render_variants, "_write", replaced_meanwhile)
    assert render_variants.make_variants(asset.pk, "light") is False
    monkeypatch.setattr(render_variants, "_write", write)

    asset.refresh_from_db()
    assert (asset.status, asset.width) == ("processing", 60)
    assert render_variants.make_variants(asset.pk, "light") is True
    asset.refresh_from_db()
    assert {opened(name).size for name in asset.variants.values()} == {(60, 30)}
    file_store.delete_due_files()
    assert len(on_disk()) == 5  # the new one with its sizes, and the old file for a day


def test_a_file_that_is_deleted_meanwhile_leaves_nothing(monkeypatch) -> None:
    asset = store(picture("PNG", (50, 10)))
    write = render_variants._write

    def deleted_meanwhile(of: Asset, theme: str) -> dict[str, str]:
        from media.services.files import delete_asset

        delete_asset(asset_id=of.pk, actor=make.actor("editor"))
        file_store.delete_due_files()
        return write(of, theme)

    content = (Path(django_settings.MEDIA_ROOT) / str(asset.file.name)).read_bytes()
    monkeypatch.setattr(render_variants, "_write", deleted_meanwhile)
    monkeypatch.setattr(default_storage, "open", lambda name: opened_bytes(content))

    assert render_variants.make_variants(asset.pk, "light") is False

    StoredFile.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    file_store.delete_due_files()
    assert on_disk() == []
    assert not StoredFile.objects.exists()


def opened_bytes(content: bytes):
    from io import BytesIO

    return BytesIO(content)


def ask(asset: Asset, theme: str, actor=None) -> Asset:
    return request_variants(asset_id=asset.pk, theme=theme, actor=actor or make.actor("editor"))


def test_dark_sizes_are_made_when_asked_for(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(picture("PNG", (1000, 10)))
    asset.refresh_from_db()
    light, before = asset.variants, content_version()

    with run_on_commit():
        ask(asset, "dark")
        assert dark_status(asset) == "processing"

    asset.refresh_from_db()
    assert (asset.status, asset.variants, dark_status(asset)) == ("ready", light, "ready")
    assert set(asset.dark_variants) == {"large", "medium", "small"}
    assert set(asset.dark_variants.values()) & set(light.values()) == set()
    red = opened(asset.dark_variants["small"]).convert("RGB").getpixel((50, 2))
    assert 185 <= red[0] <= 212  # 255 less 22 per cent
    assert content_version() > before
    dids = Event.objects.filter(name="media.variants", payload__theme="dark")
    assert [event.payload["did"] for event in dids.order_by("id")] == ["requested", "made"]


def test_sizes_that_were_lost_are_made_again(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(picture("PNG", (50, 10)))
    asset.refresh_from_db()
    lost = Path(django_settings.MEDIA_ROOT) / asset.variants["small"]
    lost.unlink()

    with run_on_commit():
        assert ask(asset, "light").status == "processing"

    asset.refresh_from_db()
    assert asset.status == "ready"
    assert lost.exists()
    assert len(on_disk()) == 4


def test_what_waits_already_is_not_asked_for_twice() -> None:
    asset = store(picture("PNG", (50, 10)))

    ask(asset, "light")
    ask(asset, "dark")
    ask(asset, "dark")

    assert VariantWork.objects.count() == 2
    assert Event.objects.filter(name="media.variants").count() == 1


def test_impossible_requests_are_refused() -> None:
    asset, pdf = store(picture("PNG", (50, 10))), store(b"%PDF-1.7 x %%EOF")
    VariantWork.objects.all().delete()

    for theme in ("", "blue", "LIGHT", "dark\x00", "../dark"):
        with pytest.raises(RuleViolation) as caught:
            ask(asset, theme)
        assert list(caught.value.details) == ["theme"]
    with pytest.raises(RuleViolation) as caught:
        ask(pdf, "dark")
    assert caught.value.code == "no_image"
    for bad in (uuid4(), "x", "\x00", "9" * 4000):
        with pytest.raises(NotFound):
            request_variants(asset_id=bad, theme="dark", actor=make.actor("editor"))
    for actor in (make.actor("translator"), make.mcp_actor("admin"), make.actor("ai_agent")):
        with pytest.raises(NotAllowed):
            ask(asset, "dark", actor)
    assert not VariantWork.objects.exists()


def dark(image: Image.Image) -> Image.Image:
    from media.render_variants import darken

    made = darken(image)
    assert (made.mode, made.size) == (image.mode, image.size)
    return made


def test_a_photo_is_dimmed_and_no_negative() -> None:
    made = dark(Image.linear_gradient("L").convert("RGB"))

    shades = [made.getpixel((5, row))[0] for row in (0, 64, 128, 255)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[3] == 199


def logo(colour: tuple[int, int, int]) -> Image.Image:
    image = Image.new("RGBA", (80, 40), (0, 0, 0, 0))
    ImageDraw.Draw(image).ellipse((10, 5, 70, 35), (*colour, 255))
    return image


def test_a_dark_logo_becomes_light_and_keeps_its_hue_and_shape() -> None:
    assert dark(logo((0, 0, 0))).getpixel((40, 20)) == (255, 255, 255, 255)
    assert dark(logo((0, 0, 100))).getpixel((40, 20)) == (155, 155, 255, 255)
    assert (
        dark(logo((0, 0, 0))).getchannel("A").tobytes() == logo((0, 0, 0)).getchannel("A").tobytes()
    )


def test_a_light_logo_stays_as_it_is() -> None:
    assert dark(logo((250, 240, 200))).getpixel((40, 20)) == (250, 240, 200, 255)
    empty = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    assert dark(empty).tobytes() == empty.tobytes()


def test_a_photo_that_was_cut_out_is_dimmed() -> None:
    photo = Image.merge("RGB", [Image.effect_noise((80, 80), 100) for _ in range(3)])
    photo.putalpha(Image.new("L", (80, 80), 255))
    photo.putpixel((0, 0), (0, 0, 0, 0))
    photo.putpixel((9, 9), (255, 255, 255, 255))

    made = dark(photo)

    assert made.getpixel((9, 9)) == (199, 199, 199, 255)
    assert made.getpixel((0, 0))[3] == 0


def frames_of_size(name: object) -> tuple[tuple[int, int], list[tuple[int, str]], object]:
    """Return the size, each frame with its milliseconds and color, and the number of repetitions."""
    image, found = opened(name), []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        image.load()
        parts = image.convert("RGB").crop((5, 5, 6, 6)).tobytes()
        colour = ("red", "green", "blue")[parts.index(max(parts))]
        found.append((image.info["duration"], colour))
    return image.size, found, image.info["loop"]


LOOPS = {"GIF": 4, "WEBP": 3, "PNG": 3}
"""A GIF is shown once more than its loop count."""


@pytest.mark.parametrize("kind", LOOPS)
def test_the_sizes_of_an_animation_move_as_it_does(kind: str, run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(moving(kind, size=(1000, 600), duration=[5, 120, 300], loop=3))
        request_variants(asset_id=asset.pk, theme="dark", actor=make.actor())
    asset.refresh_from_db()

    frames = [(100, "red"), (120, "green"), (300, "blue")]
    sizes = {"large": (1000, 600), "medium": (800, 480), "small": (400, 240)}
    for names in (asset.variants, asset.dark_variants):
        assert {size: frames_of_size(name) for size, name in names.items()} == {
            size: (shape, frames, LOOPS[kind]) for size, shape in sizes.items()
        }


def test_an_animation_without_a_number_is_shown_once(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(moving("GIF"))
    asset.refresh_from_db()

    assert frames_of_size(asset.variants["small"])[2] == 1


def test_a_picture_before_an_animation_is_no_frame_of_its_sizes(run_on_commit: RunOnCommit) -> None:
    frames = [Image.new("RGB", (30, 30), colour) for colour in ("green", "blue")]
    poster = Image.new("RGB", (30, 30), "red")
    with run_on_commit():
        asset = store(
            encoded(
                poster, "PNG", save_all=True, append_images=frames, default_image=True, duration=200
            )
        )
    asset.refresh_from_db()

    assert frames_of_size(asset.variants["small"])[1] == [(200, "green"), (200, "blue")]


def test_an_animation_that_would_take_minutes_is_shown_itself(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render_variants, "_MAX_FRAME_PIXELS", 3 * 800 * 400)
    with run_on_commit():
        asset = store(moving("GIF", size=(1000, 500)))
    asset.refresh_from_db()

    assert (asset.status, set(asset.variants)) == ("ready", {"medium", "small"})
    image = site_image(asset)
    assert image is not None
    assert image["url"] == f"/media/{asset.file.name}"
    assert image["srcset"].endswith(f"/media/{asset.file.name} 1000w")


@pytest.mark.parametrize(
    ("size", "made"),
    [
        ((900, 17_000), {"medium": (800, 15_111), "small": (400, 7_556)}),
        ((17_000, 90), {"large": (1600, 8), "medium": (800, 4), "small": (400, 2)}),
        ((10, 30_000), {}),
    ],
)
def test_of_a_tall_picture_each_size_that_can_be_made_is_made(
    size: tuple[int, int], made: dict[str, tuple[int, int]], run_on_commit: RunOnCommit
) -> None:
    with run_on_commit():
        asset = store(grey_png(*size))
        request_variants(asset_id=asset.pk, theme="dark", actor=make.actor())
    asset.refresh_from_db()

    for names in (asset.variants, asset.dark_variants):
        assert {name: opened(path).size for name, path in names.items()} == made
    assert asset.status == "ready"
    assert not VariantWork.objects.exists()
    image = site_image(asset)
    assert image is not None
    is_whole = "large" in made
    assert image["url"] == f"/media/{asset.variants['large'] if is_whole else asset.file.name}"
    assert len(on_disk()) == 1 + 2 * len(made)


def test_one_size_that_fails_stops_no_other(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = render_variants._still_size

    def fail_at_800(image: Image.Image) -> bytes | None:
        if image.width == 800:
            raise OSError("no room")
        return whole(image)

    monkeypatch.setattr(render_variants, "_still_size", fail_at_800)
    with run_on_commit():
        asset = store(picture())
    asset.refresh_from_db()

    assert (asset.status, set(asset.variants)) == ("ready", {"large", "small"})


def test_a_size_that_cannot_be_made_any_more_is_released(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_on_commit():
        asset = store(picture())
    asset.refresh_from_db()
    before = dict(asset.variants)
    monkeypatch.setattr(render_variants, "_TALLEST", 1_000)

    with run_on_commit():
        request_variants(asset_id=asset.pk, theme="light", actor=make.actor())
    asset.refresh_from_db()

    assert set(asset.variants) == {"medium", "small"}
    assert not StoredFile.objects.filter(name=before["large"], due_at=None, is_deleted=False)


def test_transparency_stays_in_sizes(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        asset = store(encoded(logo((9, 9, 9)), "PNG"))
    asset.refresh_from_db()

    alpha = opened(asset.variants["small"]).convert("RGBA").getchannel("A")

    assert (alpha.getpixel((0, 0)), alpha.getpixel((40, 20))) == (0, 255)
