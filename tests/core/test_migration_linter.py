"""The check of migrations refuses what the release before, or a busy table, does not survive."""

from __future__ import annotations

import io
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker

from tests import migration_linter

FIRST = Path(__file__).parents[2] / "proofroom_apps/menus/migrations/0001_initial.py"
MIGRATION = """
from django.db import migrations, models
from proofroom.core.database.operations import *

def convert(apps, schema_editor):
    Menu = apps.get_model("proofroom_menus", "Menu")
    Menu.objects.filter(name="").update(name="Menu")

def drop_name(apps, schema_editor):
    schema_editor.execute("ALTER TABLE proofroom_menus_menu DROP COLUMN name")

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("proofroom_menus", "0001_initial")]
    operations = [{operations}]
"""
INDEX = 'models.Index(fields=["name"], name="menu_names")'
CHECK = 'models.CheckConstraint(condition=~models.Q(name=""), name="menu_named")'
GOOD = {
    "a column that may be empty": 'migrations.AddField("Menu", "note", models.TextField(null=True))',
    "a column with a default": 'migrations.AddField("Menu", "note", models.TextField(db_default="", default=""))',
    "a table with an index": 'migrations.CreateModel("Item", [("id", models.BigAutoField(primary_key=True)), '
    '("menu", models.ForeignKey("proofroom_menus.Menu", models.CASCADE)), ("a", models.IntegerField())], '
    'options={"indexes": [models.Index(fields=["a"], name="item_a")]})',
    "an index": f'AddIndexConcurrently("Menu", {INDEX})',
    "a check of new rows": f'AddConstraintNotValid("Menu", {CHECK})',
    "a check of all rows": 'ValidateConstraint("Menu", "menu_named")',
    "a field that leaves only the code": "migrations.SeparateDatabaseAndState("
    'state_operations=[migrations.RemoveField("Menu", "name")])',
    "values": "migrations.RunPython(convert, migrations.RunPython.noop)",
}
BAD = {
    "NOT NULL constraint": 'migrations.AddField("Menu", "note", models.TextField(default=""))',
    "DROPPING columns": 'migrations.RemoveField("Menu", "name")',
    "DROPPING table": 'migrations.DeleteModel("Menu")',
    "RENAMING columns": 'migrations.RenameField("Menu", "name", "title")',
    "RENAMING tables": 'migrations.RenameModel("Menu", "Navigation")',
    "ALTERING columns": 'migrations.AlterField("Menu", "version", models.TextField())',
    "CREATE INDEX without": f'migrations.AddIndex("Menu", {INDEX})',
    "ADD CONSTRAINT without": f'migrations.AddConstraint("Menu", {CHECK})',
    "ADDING unique": 'migrations.AddConstraint("Menu", models.UniqueConstraint(fields=["name"], name="named"))',
    "not reversible": 'migrations.RunSQL("SELECT 1")',
    "'drop_name': run SQL with": "migrations.RunPython(drop_name, migrations.RunPython.noop)",
}
REMOVALS = {
    "a column": 'migrations.RunSQL("ALTER TABLE proofroom_menus_menu DROP COLUMN name", '
    '"ALTER TABLE proofroom_menus_menu ADD COLUMN name varchar(200) NULL")',
    "a unique pair": 'RunPostgreSQL(["CREATE UNIQUE INDEX CONCURRENTLY named ON proofroom_menus_menu (name)", '
    '"ALTER TABLE proofroom_menus_menu ADD CONSTRAINT named UNIQUE USING INDEX named"], '
    '"ALTER TABLE proofroom_menus_menu DROP CONSTRAINT named")',
}


CONTRACT_BAD = [
    "RENAMING columns",
    "ALTERING columns",
    "CREATE INDEX without",
    "ADD CONSTRAINT without",
]


@pytest.fixture(scope="module")
def planted(
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> dict[str, str]:
    """Add all these migrations to the menus, and return what is written about each."""
    folder = tmp_path_factory.mktemp("planted") / "planted_migrations"
    folder.mkdir()
    (folder / "__init__.py").touch()
    shutil.copy(FIRST, folder)
    for number, operations in enumerate(GOOD.values()):
        plant(folder, f"0002_good_{number}", operations)
    for number, operations in enumerate(BAD.values()):
        plant(folder, f"0002_bad_{number}", operations)
    for number, operations in enumerate(REMOVALS.values()):
        plant(folder, f"0002_contract_good_{number}", operations)
    for number, message in enumerate(CONTRACT_BAD):
        plant(folder, f"0002_contract_bad_{number}", BAD[message])
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.syspath_prepend(folder.parent)
        patch.setattr(settings, "MIGRATION_MODULES", {"proofroom_menus": folder.name})
        output = io.StringIO()
        with redirect_stdout(output):
            assert not migration_linter.lint()
    results = re.findall(r"\(proofroom_menus, (\w+)\)\.\.\. (.*(?:\n\t.*)*)", output.getvalue())
    return dict(results)


def plant(folder: Path, name: str, operations: str) -> None:
    (folder / f"{name}.py").write_text(MIGRATION.format(operations=operations))


@pytest.mark.django_db
def test_the_products_migrations_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert migration_linter.lint(), capsys.readouterr().out


@pytest.mark.parametrize("number", range(len(GOOD)), ids=GOOD)
def test_additions_pass(number: int, planted: dict[str, str]) -> None:
    assert planted[f"0002_good_{number}"] == "OK"


@pytest.mark.parametrize(("number", "message"), list(enumerate(BAD)), ids=BAD)
def test_changes_that_the_release_before_does_not_survive_are_refused(
    number: int, message: str, planted: dict[str, str]
) -> None:
    written = planted[f"0002_bad_{number}"]
    assert written.startswith("ERR")
    assert message in written


@pytest.mark.parametrize("number", range(len(REMOVALS)), ids=REMOVALS)
def test_a_contract_migration_may_remove(number: int, planted: dict[str, str]) -> None:
    assert planted[f"0002_contract_good_{number}"] == "OK"


@pytest.mark.parametrize(("number", "message"), list(enumerate(CONTRACT_BAD)), ids=CONTRACT_BAD)
def test_a_contract_migration_may_neither_rename_nor_lock(
    number: int, message: str, planted: dict[str, str]
) -> None:
    written = planted[f"0002_contract_bad_{number}"]
    assert written.startswith("ERR")
    assert message in written
