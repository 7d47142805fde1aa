"""The tables of docs/reference/ that the code writes are current and complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from mcp_bridge.reference_pages import BEGIN, END, TABLES, UNKNOWN, render_page
from tests.mcp.running import ROOT

FOLDER = ROOT / "docs" / "reference"


@pytest.mark.parametrize("name", TABLES)
def test_the_written_table_is_current(name: str) -> None:
    page = (FOLDER / name).read_text(encoding="utf-8")

    assert render_page(name, page) == page, "renew it: ./run write_reference"


@pytest.mark.parametrize("name", TABLES)
def test_every_row_is_described(name: str) -> None:
    page = (FOLDER / name).read_text(encoding="utf-8")

    assert [line for line in page.splitlines() if UNKNOWN in line] == []


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("settings.md", "| `TRASH_DAYS` | `30` |"),
        ("permissions.md", "| `posts.publish` | Publish and unpublish posts | yes | yes | | | |"),
        ("events.md", "| `chat.test` | Chat tested | 1 | `webhooks.manage` | | none |"),
        ("errors.md", "| `role_above_own` | 403, 422 |"),
        ("errors.md", "| `storage_failed` | 503 |"),
    ],
)
def test_a_table_says_what_the_code_says(name: str, row: str) -> None:
    assert f"\n{row}" in render_page(name, f"{BEGIN}\n{END}").replace(UNKNOWN, "none")


def test_a_new_table_has_the_descriptions_of_the_page() -> None:
    old = f"{BEGIN}\n\n| `not_found` | 400 | written by hand |\n| `removed_code` | 404 | no code |\n\n{END}\n"

    new = render_page("errors.md", old)

    assert "\n| `not_found` | 404 | written by hand |\n" in new
    assert f"\n| `slug_taken` | 422 | {UNKNOWN} |\n" in new
    assert "`removed_code`" not in new


def test_the_command_writes_every_page(tmp_path: Path) -> None:
    for name in TABLES:
        (tmp_path / name).write_text(f"# Page\n\n{BEGIN}\n{END}\n")

    call_command("write_reference", folder=str(tmp_path))

    written = (tmp_path / "settings.md").read_text()
    assert written.startswith(f"# Page\n\n{BEGIN}\n\n| setting | default | meaning |\n")


def test_a_page_without_the_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.md").write_text("# Settings\n")

    with pytest.raises(CommandError, match="needs the lines"):
        call_command("write_reference", folder=str(tmp_path))
    assert (tmp_path / "settings.md").read_text() == "# Settings\n"
