"""Every picture that a page shows is taken by `./run pictures`, and every picture is shown."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser.pictures.comparison import IMAGES, SNAPSHOTS, path_of, snapshot_path
from tests.browser.pictures.declared import PICTURES
from tests.commands import ROOT
from tests.words.test_doc_pages import PAGES as DOC_PAGES
from tests.words.test_doc_pages import prose_of

PAGES = (*DOC_PAGES, ROOT / "README.md")
SHOWN = re.compile(r"!\[([^\]]*)\]\((\S+)\)")
MAX_BYTES = 110_000
"""Of one picture."""
MAX_BYTES_IN_PACKAGE = 1_500_000
"""Of all pictures that are in the package."""


def shown_by(page: Path) -> list[tuple[str, Path]]:
    """Return the texts and files of the pictures of a page."""
    text = re.sub(r"`[^`\n]*`", "", "\n".join(prose_of(page.read_text(encoding="utf-8"))))
    return [(alt, (page.parent / url).resolve()) for alt, url in SHOWN.findall(text)]


def test_every_picture_of_a_page_is_declared_and_every_declared_one_is_shown() -> None:
    shown = {path for page in PAGES for _, path in shown_by(page)}

    assert shown == {path_of(picture) for picture in PICTURES}


def test_every_picture_is_committed_with_its_words_and_no_other_file() -> None:
    images = {path for path in IMAGES.rglob("*") if path.is_file()}

    assert images == {path_of(picture) for picture in PICTURES}
    assert set(SNAPSHOTS.iterdir()) == {snapshot_path(picture) for picture in PICTURES}


def test_every_picture_has_a_text_that_describes_it() -> None:
    assert [str(page) for page in PAGES if "" in (alt for alt, _ in shown_by(page))] == []


def test_pictures_are_small() -> None:
    sizes = {path_of(picture): path_of(picture).stat().st_size for picture in PICTURES}

    assert [path.name for path, size in sizes.items() if size > MAX_BYTES] == []
    packaged = (size for path, size in sizes.items() if path.parent == IMAGES)
    assert sum(packaged) < MAX_BYTES_IN_PACKAGE


def test_a_picture_only_of_the_gallery_is_in_its_folder() -> None:
    """The package contains neither this folder nor the page that shows it."""
    gallery = ROOT / "docs" / "reference" / "screens.md"
    elsewhere = {path for page in PAGES if page != gallery for _, path in shown_by(page)}

    assert {path for path in elsewhere if path.parent != IMAGES} == set()
    assert {path_of(picture) for picture in PICTURES if "/" not in picture.file} == elsewhere
