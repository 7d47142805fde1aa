"""Hundreds of odd images: each is stored with all its pixels, or refused for a correct reason."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from media.images import clean, frames_of
from media.models import ImageTheme
from media.render_variants import render_sizes
from proofroom.core.errors import CmsError
from tests.media.pictures import KINDS
from tests.media.pillow_images import downloaded

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]
MAX_PIXELS = 50_000_000
Shape = tuple[tuple[int, int], int]


def decoded(content: bytes) -> Shape | None:
    """Return size and number of frames after decoding completely; None if our decoders cannot."""
    try:
        image = Image.open(BytesIO(content), formats=[*KINDS, "MPO"])
        frames = frames_of(image)
        for number in range(frames):
            image.seek(number)
            image.load()
    except Exception:
        return None
    return image.size, frames


def stored(content: bytes) -> tuple[str, Shape | None]:
    """Return the result of an upload: `stored` or the error code, and the stored files."""
    try:
        cleaned = clean(content, max_pixels=MAX_PIXELS)
    except CmsError as error:
        return error.code, None
    return "stored", decoded(cleaned.content)


@pytest.fixture(scope="module")
def pictures() -> list[Path]:
    return sorted(path for path in downloaded().rglob("*") if path.is_file())


def test_a_picture_is_stored_whole_or_refused_for_a_true_reason(pictures: list[Path]) -> None:
    outcomes: dict[str, int] = {}
    for path in pictures:
        content = path.read_bytes()
        whole, (outcome, kept) = decoded(content), stored(content)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if outcome != "stored":
            assert whole is None or outcome == "too_many_pixels", (path.name, outcome)
            continue
        assert whole is not None, path.name
        assert kept is not None, path.name
        # Encoding merges equal frames, and resizes all to the first.
        is_copied = kept[1] == whole[1]
        assert is_copied or kept[1] < whole[1] <= 2, path.name
        assert sorted(kept[0]) == sorted(whole[0]) or not is_copied, path.name

    assert outcomes.keys() == {"stored", "media_type", "damaged_file", "too_many_pixels"}
    assert outcomes["stored"] > 400


def shown_frames(content: bytes) -> int:
    """Return the number of visibly different frames, because encoders merge equal ones."""
    image, seen, before = Image.open(BytesIO(content)), 0, b""
    for number in range(int(bool(image.info.get("default_image"))), frames_of(image)):
        image.seek(number)
        image.load()
        frame = image.convert("RGBA").resize((16, 16))
        pixels = Image.alpha_composite(Image.new("RGBA", (16, 16), "white"), frame).tobytes()
        steps = (abs(one - other) for one, other in zip(before, pixels, strict=False))
        seen, before = seen + (not before or max(steps) > 40), pixels
    return seen


def test_sizes_of_what_is_stored_move_as_it_does(pictures: list[Path]) -> None:
    checked = 0
    for path in pictures:
        content = path.read_bytes()
        if stored(content)[0] != "stored":
            continue
        kept = clean(content, max_pixels=MAX_PIXELS).content
        for theme in ImageTheme.values:
            sizes = dict(render_sizes(kept, theme))
            assert set(sizes) == {"large", "medium", "small"}, path.name
            for made in sizes.values():
                if shown_frames(kept) > 1:
                    assert frames_of(Image.open(BytesIO(made))) > 1, path.name
        checked += 1

    assert checked > 400
