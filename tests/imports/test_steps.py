"""Reading a structure of n parts takes linear time: twice the parts take about twice the steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from media.containers import COPIERS
from proofroom.core.errors import RuleViolation
from proofroom_apps.imports.addresses import PostAddresses
from proofroom_apps.imports.front_matter import MAX_KEY_PARTS, parts_of_key, read_file
from proofroom_apps.imports.record_files import MAX_COLUMNS, read_csv, read_header
from seo.redirect_csv import read_lines
from tests.imports.executed_lines import lines_run
from tests.media.pictures import chunk, moving, picture

comparisons = 0


class Counted(str):
    """A string that counts its comparisons."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        global comparisons
        comparisons += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)

    def strip(self, characters: str | None = None, /) -> Counted:
        return self


def compared(work: Callable[[], object]) -> int:
    global comparisons
    comparisons = 0
    work()
    return comparisons


def names(number: int) -> list[str]:
    return [Counted(f"column {place}") for place in range(number)]


def test_the_names_of_twice_the_columns_are_compared_twice_as_often() -> None:
    few, many = (compared(lambda: read_header(names(n), 1)) for n in (500, 1_000))  # noqa: B023

    assert many <= 2 * few + 10


@pytest.mark.parametrize("number", [MAX_COLUMNS, MAX_COLUMNS + 1])
def test_a_file_has_a_bounded_number_of_columns(number: int, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{place}" for place in range(number)) + "\n")

    if number <= MAX_COLUMNS:
        assert read_csv(path).records == []
        return
    with pytest.raises(RuleViolation) as refusal:
        read_csv(path)
    assert refusal.value.message == "Line 1: the file has more than 2,000 columns."


def test_two_columns_of_one_name_are_named(tmp_path: Path) -> None:
    path = tmp_path / "doubled.csv"
    path.write_text("title,body,,,title\n")

    with pytest.raises(RuleViolation, match="two columns are named title"):
        read_csv(path)


def png(number: int) -> bytes:
    whole: bytes = picture("PNG", (4, 4))
    return whole[:33] + chunk(b"tEXt", b"a\0b") * number + whole[33:]


def gif(number: int) -> bytes:
    whole = moving("GIF", size=(2, 2))
    note = b"!\xfe\x01a\x00"
    return whole[:-1] + note * number + b";"


def jpeg(number: int) -> bytes:
    whole: bytes = picture("JPEG", (8, 8))
    return whole[:2] + b"\xff\xfe\x00\x03a" * number + whole[2:]


def webp(number: int) -> bytes:
    body: bytes = picture("WEBP", (4, 4))[12:] + b"JUNK\x00\x00\x00\x00" * number
    return b"RIFF" + (len(body) + 4).to_bytes(4, "little") + b"WEBP" + body


PICTURES: dict[str, Callable[[int], bytes]] = {"PNG": png, "GIF": gif, "JPEG": jpeg, "WEBP": webp}


@pytest.mark.parametrize("kind", PICTURES)
def test_twice_the_parts_of_a_picture_take_twice_the_steps(kind: str) -> None:
    few, many = (
        lines_run(lambda: COPIERS[kind](PICTURES[kind](n)), "containers.py")  # noqa: B023
        for n in (500, 1_000)
    )

    assert few < many < 2.2 * few


class DeadLinks:
    """A writer that treats every link as dead."""

    def link(self, address: str, *_: object) -> tuple[str, bool]:
        return address, True


def test_dead_links_are_compared_once_each() -> None:
    def resolve(number: int) -> None:
        addresses = PostAddresses(DeadLinks(), "")
        for place in range(number):
            addresses._link(Counted(f"/dead/{place}"))

    few, many = (compared(lambda: resolve(n)) for n in (300, 600))  # noqa: B023

    assert many <= 2.2 * few + 10


def test_redirects_take_their_number_of_steps() -> None:
    def text(number: int) -> str:
        return "from,to\n" + "".join(f"/a{place},/b{place}\n" for place in range(number))

    few, many = (
        lines_run(lambda: read_lines(text(n)), "redirect_csv.py", "redirect_paths.py")  # noqa: B023
        for n in (200, 400)
    )

    assert few < many < 2.2 * few


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a.b.c = 1", 3),
        ("[a . b . c]", 3),
        ('x = {a.b.c = "d"}', 3),
        ("One sentence here. Another one there. " * 200, 2),
        ("a." * 500 + "b=1", 501),
    ],
)
def test_the_parts_of_a_key_are_counted(line: str, parts: int) -> None:
    assert abs(parts_of_key(line) - parts) <= 1


def test_a_key_of_too_many_parts_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("+++\n" + "a." * (MAX_KEY_PARTS + 2) + "b = 1\n+++\nText\n")

    with pytest.raises(ValueError, match="too many parts"):
        read_file(path)

    path.write_text('+++\ntitle = "T"\na.b.c = 1\n+++\nText\n')
    assert read_file(path)[0] == {"title": "T", "a": {"b": {"c": 1}}}
