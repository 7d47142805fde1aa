"""How a picture differs from the committed one: in its words, or in what it looks like."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops

from tests.browser.pictures.declared import Picture

ROOT: Final = Path(__file__).resolve().parents[3]
IMAGES: Final = ROOT / "docs" / "images"
SNAPSHOTS: Final = Path(__file__).parent / "snapshots"
RESULTS: Final = ROOT / "test-results" / "pictures"
CELL: Final = (24, 8)
"""Pictures are compared in cells of this many pixels. Wide ones, since versions of a browser place letters up to a
pixel further along a line."""
LEVEL: Final = 18
"""A cell differs if one of its colors, of 0 to 255, differs by more."""
CELLS_MAX: Final = 30
"""So many cells may differ. Of Home, 9 differ between Chromium 138 and 156,
90 if one card moves by 2 pixels."""
_COLOURS: Final = 128
_LINES_SHOWN: Final = 12
_TAKEN: Final = set(os.environ.get("TAKE_PICTURES", "").split())


@dataclass(frozen=True, slots=True)
class Shot:
    """A page as it was photographed: the words and controls that assistive technology reads, and the image."""

    words: str
    image: Image.Image


def path_of(picture: Picture) -> Path:
    return IMAGES / f"{picture.file}.webp"


def snapshot_path(picture: Picture) -> Path:
    return SNAPSHOTS / f"{picture.name}.yaml"


def save(picture: Picture, shot: Shot) -> None:
    path, words = path_of(picture), snapshot_path(picture)
    for each in (path, words):
        each.parent.mkdir(parents=True, exist_ok=True)
    _with_few_colors(shot.image).save(path, lossless=True, quality=80, method=4)
    words.write_text(shot.words, encoding="utf-8")


def difference(picture: Picture, shot: Shot) -> str:
    """Return how the picture differs from the committed one; an empty text if it does not."""
    path, words = path_of(picture), snapshot_path(picture)
    if not path.exists() or not words.exists():
        return "it has not been taken yet"
    before = words.read_text(encoding="utf-8")
    if before != shot.words:
        pairs = difflib.unified_diff(before.splitlines(), shot.words.splitlines(), lineterm="", n=0)
        changed = [line for line in pairs if not line.startswith(("---", "+++", "@@"))]
        return "\n    ".join(("its words differ:", *changed[:_LINES_SHOWN]))
    old = Image.open(path).convert("RGB")
    if old.size != shot.image.size:
        return f"its size was {old.size} and is {shot.image.size}"
    cells = _count(differing_cells(old, shot.image))
    if cells > CELLS_MAX:
        # Photos lose colors in the committed picture.
        cells = _count(differing_cells(old, _with_few_colors(shot.image)))
    return f"{cells} cells look different" if cells > CELLS_MAX else ""


def _count(cells: Image.Image) -> int:
    return cells.histogram()[255]


def _with_few_colors(image: Image.Image) -> Image.Image:
    """Return the image as it is saved: few colors make a small file."""
    return image.quantize(_COLOURS, dither=Image.Dither.NONE).convert("RGB")


def differing_cells(old: Image.Image, new: Image.Image) -> Image.Image:
    """Return a small image with a white pixel for each cell that differs."""
    parts = ImageChops.difference(old.reduce(CELL), new.reduce(CELL)).split()
    most = parts[0]
    for part in parts[1:]:
        most = ImageChops.lighter(most, part)
    return most.point(lambda value: 255 if value > LEVEL else 0)


def report(picture: Picture, shot: Shot) -> None:
    """Save the new picture, and one with the differing cells in red, in `test-results/pictures/`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    shot.image.save(RESULTS / f"{picture.name}.new.png")
    (RESULTS / f"{picture.name}.new.yaml").write_text(shot.words, encoding="utf-8")
    path = path_of(picture)
    if not path.exists():
        return
    old = Image.open(path).convert("RGB")
    if old.size == shot.image.size:
        cells = differing_cells(old, shot.image)
        mask = cells.resize((cells.width * CELL[0], cells.height * CELL[1])).crop((0, 0, *old.size))
        red = Image.new("RGB", old.size, "red")
        marked = Image.composite(Image.blend(shot.image, red, 0.6), shot.image, mask)
        marked.save(RESULTS / f"{picture.name}.diff.png")


def is_comparing() -> bool:
    """Return whether the pictures are compared, not taken."""
    return not _TAKEN


def is_taking(picture: Picture) -> bool:
    """Return whether `./run pictures` takes this picture. It names all or some in the environment."""
    return bool({"all", picture.name} & _TAKEN)
