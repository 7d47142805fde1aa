"""The commands that write a content migration and preview it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import override_settings

from content.models import ModuleInstance
from tests import make

# `migrate` on SQLite runs outside of transactions.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install an app without migrations."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with override_settings(INSTALLED_APPS=["shop", *settings.INSTALLED_APPS]):
        yield folder
    MigrationRecorder(connection).migration_qs.filter(app="shop").delete()
    for name in [name for name in sys.modules if name.split(".")[0] == "shop"]:
        del sys.modules[name]


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def test_a_migration_is_written_previewed_and_applied(shop: Path) -> None:
    make.post("Filter coffee")
    out, err = run(
        "make_content_migration", "shop", "hero", "--rename", "subtitle", "intro",
        "--default", "size", '"large"', "--drop", "theme",
    )  # fmt: skip
    [path] = (shop / "migrations").glob("0001_*.py")
    assert str(path) in out
    assert "hero has no property intro" in err
    before = ModuleInstance.objects.get(type="hero").props

    out, _ = run("preview_content_migration", "shop", "0001")
    assert "1 modules" in out
    assert '"intro"' in out
    assert "refused by the current definition" in out
    assert ModuleInstance.objects.get(type="hero").props == before

    call_command("migrate", "shop", verbosity=0)
    props = ModuleInstance.objects.get(type="hero").props
    assert (props["intro"], props["size"]) == (before["subtitle"], "large")
    assert "theme" not in props
    with pytest.raises(CommandError, match="already applied"):
        run("preview_content_migration", "shop", "0001")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "hero", "--drop", "theme"], "There is no app nowhere"),
        (["shop", "hero"], "Name at least one change"),
        (["shop", "hero", "--default", "size", "large"], "is not JSON"),
        (["shop", "hero", "--split", "subtitle"], "needs at least two new names"),
        (["shop", "hero", "--becomes", "nothing"], "There is no module type nothing"),
        (["shop", "blog", "--post-type", "--becomes", "page"], "only for modules"),
    ],
)
def test_what_is_asked_for_wrongly_writes_nothing(
    shop: Path, arguments: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run("make_content_migration", *arguments)
    assert not (shop / "migrations").exists()


def test_functions_are_left_to_be_written(shop: Path) -> None:
    out, _ = run(
        "make_content_migration", "shop", "hero", "--convert", "ctaUrl", "--split", "subtitle", "time", "unit"
    )  # fmt: skip
    [path] = (shop / "migrations").glob("0001_*.py")
    text = path.read_text()
    assert "Next: complete its functions." in out
    assert "def convert_cta_url(value):" in text
    assert 'Split("subtitle", ("time", "unit"), split_subtitle)' in text
    compile(text, str(path), "exec")
    make.post("Filter coffee")
    with pytest.raises(
        CommandError, match=r"'Filter coffee' .* NotImplementedError: .* time, unit"
    ):
        run("preview_content_migration", "shop", "0001")


def test_only_migrations_of_content_are_previewed(shop: Path) -> None:
    with pytest.raises(CommandError, match="no migration 0009"):
        run("preview_content_migration", "shop", "0009")
    with pytest.raises(CommandError, match="already applied"):
        run("preview_content_migration", "content", "0001")
