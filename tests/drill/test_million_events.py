"""Migrations of the largest tables, with a million rows each, while others write.

No test measures a time. A rewrite shows by new files of the table. An index shows whether it blocks writers while it
waits for an older transaction: a writer that gives up after a second must succeed then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from proofroom.core.database.migrate import LOCK_TIMEOUT_MS
from tests.deployment.site import until
from tests.faults.processes import ROOT, own_database
from tests.migrated import migrated_database

pytestmark = [pytest.mark.drill, pytest.mark.services]
ROWS: Final = 1_000_000
LOG: Final = "proofroom_core_event"
VISITS: Final = "analytics_analyticsevent"
WRITES: Final = {
    LOG: "INSERT INTO proofroom_core_event (uid, name, version, payload, actor_name, via, credential, agent_id, "
    "run_id, hop, created_at, attempts, told, is_sealed, dispatched_at) "
    "SELECT gen_random_uuid(), 'post.updated', 1, '{\"title\": \"A title of common length\"}', 'editor', 'api', '', "
    "'', '', 0, now() - number * interval '1 second', 0, '[]', true, now() FROM generate_series(1, %s) AS number",
    VISITS: "INSERT INTO analytics_analyticsevent (event_type, post_id, metadata, locale, goal, created_at) "
    "SELECT 'view', gen_random_uuid(), '{\"referrer\": \"example.com\"}', 'en', '', "
    "now() - number * interval '5 seconds' FROM generate_series(1, %s) AS number",
}
MIGRATION: Final = """
from django.db import migrations, models
from proofroom.core.database.operations import AddIndexConcurrently, RunPostgreSQL

class Migration(migrations.Migration):
    atomic = {atomic}
    dependencies = [("{app}", "{after}")]
    operations = [{operations}]
"""
COLUMN: Final = 'migrations.AddField("{model}", "planted", models.TextField(db_default="")), '
INDEX: Final = 'models.Index(fields=["via", "-id"], name="planted_index")'
APPS: Final = {
    "proofroom_core": ("proofroom/core/migrations", "Event"),
    "analytics": ("analytics/migrations", "AnalyticsEvent"),
}


class Filled:
    """A database with a million rows in each of both tables."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self._numbers = count(9000)
        self._latest = {app: self._copy_migrations(app, path) for app, (path, _) in APPS.items()}
        (folder / "planted_settings.py").write_text(
            "from cms_project.settings import *\n"
            f"MIGRATION_MODULES = { ({app: f'planted_{app}' for app in APPS})!r}\n"
        )

    def _copy_migrations(self, app: str, path: str) -> str:
        copied = self.folder / f"planted_{app}"
        shutil.copytree(ROOT / path, copied, ignore=shutil.ignore_patterns("__pycache__"))
        return max(file.stem for file in copied.glob("0*.py"))

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def fill(self) -> None:
        with self.connect() as database:
            for statement in WRITES.values():
                database.execute(statement, [ROWS])

    def start_migration(self, app: str, operations: str, *, atomic: bool = True) -> Migration:
        """Add a migration after the last one of the app, and start to apply it."""
        number = next(self._numbers)
        name = f"{number}_planted"
        text = MIGRATION.format(
            app=app, after=self._latest[app], operations=operations, atomic=atomic
        )
        (self.folder / f"planted_{app}/{name}.py").write_text(text)
        self._latest[app] = name
        environ = {
            **os.environ,
            "DATABASE_URL": self.url,
            "DJANGO_SETTINGS_MODULE": "planted_settings",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{self.folder}",
        }
        return Migration(
            [sys.executable, "manage.py", "migrate", "--verbosity=0", app, name],
            cwd=ROOT,
            env=environ,
            stderr=subprocess.PIPE,
            text=True,
        )

    def files(self, table: str) -> dict[str, int]:
        """Return the file of a table, or of each of its partitions. A rewrite makes a new one."""
        query = (
            "SELECT relname, pg_relation_filenode(oid) FROM pg_class"
            " WHERE oid IN (SELECT relid FROM pg_partition_tree(%s::regclass) WHERE isleaf)"
        )
        with self.connect() as database:
            return dict(database.execute(query, [table]).fetchall())

    def write(self, table: str, *, patience: str) -> None:
        """Insert a row. Raises LockNotAvailable if another lock lasts longer than `patience`."""
        with self.connect() as database:
            database.execute("SELECT set_config('lock_timeout', %s, false)", [patience])
            database.execute(WRITES[table], [1])

    @contextmanager
    def writers(self) -> Iterator[list[str]]:
        """Write to both tables, with the patience of a migration. Yields the errors."""
        errors: list[str] = []
        written = dict.fromkeys(WRITES, 0)
        ended = threading.Event()

        def work(table: str) -> None:
            while not ended.wait(0.01):
                try:
                    self.write(table, patience=f"{LOCK_TIMEOUT_MS}ms")
                    written[table] += 1
                except psycopg.Error as error:
                    errors.append(f"{table}: {error}")

        threads = [threading.Thread(target=work, args=(table,)) for table in WRITES]
        for thread in threads:
            thread.start()
        try:
            until("the first writes", lambda: all(written.values()))
            yield errors
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    @contextmanager
    def older_transaction(self, table: str) -> Iterator[None]:
        """Hold a transaction that has written to the table, as a long request does."""
        with self.connect() as database, database.transaction(force_rollback=True):
            database.execute(WRITES[table], [1])
            yield

    def wait_for_index(self, words: str) -> None:
        """Wait until a statement that begins with these words waits for a lock."""
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock' AND starts_with(query, %s)"
        )
        with self.connect() as database:
            until(f"{words} waits", lambda: database.execute(query, [words]).fetchone(), 300)


class Migration(subprocess.Popen[str]):
    def finish(self) -> None:
        _, errors = self.communicate(timeout=600)
        assert self.returncode == 0, errors


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    template = migrated_database(os.environ["DATABASE_URL"])
    with own_database("million", template) as url:
        found = Filled(url, tmp_path_factory.mktemp("million"))
        found.fill()
        yield found


@pytest.mark.parametrize(("app", "table"), [("proofroom_core", LOG), ("analytics", VISITS)])
def test_a_column_comes_without_a_rewrite_while_others_write(
    filled: Filled, app: str, table: str
) -> None:
    before = filled.files(table)
    _, model = APPS[app]

    with filled.writers() as errors:
        filled.start_migration(app, COLUMN.format(model=model)).finish()

    assert errors == []
    assert filled.files(table) == before
    with filled.connect() as database:
        rows = database.execute(f"SELECT count(*) FROM {table} WHERE planted = ''").fetchone()  # noqa: S608
    assert rows is not None
    assert rows[0] > ROWS


def test_an_index_lets_others_write(filled: Filled) -> None:
    with filled.older_transaction(LOG):
        migration = filled.start_migration(
            "proofroom_core", f'AddIndexConcurrently("Event", {INDEX})', atomic=False
        )
        filled.wait_for_index("CREATE INDEX CONCURRENTLY")
        for _ in range(20):
            filled.write(LOG, patience="1s")
    with filled.writers() as errors:
        migration.finish()

    assert errors == []
    with filled.connect() as database:
        valid = database.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'planted_index'::regclass"
        )
        assert valid.fetchone() == (True,)


def test_a_plain_index_is_found(filled: Filled) -> None:
    with filled.older_transaction(LOG):
        migration = filled.start_migration(
            "proofroom_core",
            'migrations.AddIndex("Event", models.Index(fields=["uid", "id"], name="planted_plain"))',
        )
        filled.wait_for_index("CREATE INDEX")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            filled.write(LOG, patience="1s")
    migration.finish()


def test_a_rewrite_is_found(filled: Filled) -> None:
    before = filled.files(VISITS)

    filled.start_migration(
        "analytics",
        'RunPostgreSQL("ALTER TABLE analytics_analyticsevent ADD COLUMN random_id uuid DEFAULT gen_random_uuid()")',
    ).finish()

    after = filled.files(VISITS)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())


def test_a_migration_gives_up_behind_a_long_transaction(filled: Filled) -> None:
    with filled.older_transaction(VISITS):
        migration = filled.start_migration(
            "analytics",
            'migrations.AddField("AnalyticsEvent", "late", models.TextField(null=True))',
        )
        _, errors = migration.communicate(timeout=600)
        assert migration.returncode != 0
        assert "canceling statement due to lock timeout" in errors
        filled.write(VISITS, patience="1s")
