"""What counts as a change of a picture: other words, another layout or color; not the smoothing of letters."""

from __future__ import annotations

from typing import Final

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter

from tests.browser.pictures.comparison import Shot, difference, path_of, snapshot_path
from tests.browser.pictures.declared import PICTURES, Picture

REVIEW: Final = next(picture for picture in PICTURES if picture.name == "review")


def committed(picture: Picture = REVIEW) -> Shot:
    words = snapshot_path(picture).read_text(encoding="utf-8")
    return Shot(words, Image.open(path_of(picture)).convert("RGB"))


def test_the_committed_picture_does_not_differ_from_itself() -> None:
    assert difference(REVIEW, committed()) == ""


def test_another_smoothing_of_letters_is_no_difference() -> None:
    shot = committed()
    softer = shot.image.filter(ImageFilter.GaussianBlur(0.5))
    darker = ImageEnhance.Contrast(softer).enhance(1.03)

    assert difference(REVIEW, Shot(shot.words, darker)) == ""


def test_another_word_of_a_control_is_a_difference() -> None:
    shot = committed()
    assert '- button "Accept the safe change"' in shot.words
    other = shot.words.replace("Accept the safe change", "Accept safe changes")

    assert "Accept safe changes" in difference(REVIEW, Shot(other, shot.image))


@pytest.mark.parametrize("pixels", [2, 4])
def test_a_part_that_moved_is_a_difference(pixels: int) -> None:
    shot = committed()
    moved = shot.image.copy()
    lower = (0, 300, moved.width, moved.height - pixels)
    moved.paste(shot.image.crop(lower), (0, 300 + pixels))

    assert "look different" in difference(REVIEW, Shot(shot.words, moved))


def test_another_color_of_a_button_is_a_difference() -> None:
    shot = committed()
    painted = shot.image.copy()
    ImageDraw.Draw(painted).rectangle((1251, 236, 1399, 270), fill="#5b0c6b")

    assert "look different" in difference(REVIEW, Shot(shot.words, painted))


def test_another_size_is_a_difference() -> None:
    shot = committed()
    smaller = shot.image.crop((0, 0, shot.image.width, shot.image.height - 1))

    assert "its size was" in difference(REVIEW, Shot(shot.words, smaller))


def test_inverted_colors_are_a_difference() -> None:
    shot = committed()

    assert "look different" in difference(REVIEW, Shot(shot.words, ImageChops.invert(shot.image)))
