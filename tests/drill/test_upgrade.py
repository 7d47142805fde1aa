"""An upgrade without a pause: the release before runs on the new tables, then new processes replace the old ones.

The commit of the release before is in `release_before.txt`. Both releases run with the environment of this checkout.
Each table also gets columns, because between two releases there may be no migration.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.commands import run_command
from tests.deployment.site import until
from tests.drill.upgrade import Upgrade, migrate, unpack_release_before
from tests.faults.processes import own_database
from tests.receiver import Receiver, serving

pytestmark = [
    pytest.mark.drill,
    pytest.mark.services,
    pytest.mark.skipif(
        shutil.which("redis-server") is None or not os.access("/usr/sbin/nginx", os.X_OK),
        reason="needs redis-server and nginx",
    ),
]
AGENT: Final = "seo-specialist"
MIGRATED: Final = """
import os, django
django.setup()
from tests.migrated import migrated_database
print(migrated_database(os.environ["DATABASE_URL"]))
"""
COLUMNS: Final = """
from django.db import migrations
from proofroom.core.database.operations import RunPostgreSQL

# Each table in a transaction of its own: otherwise requests and the migration wait for each other.
EACH_TABLE = '''
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
        AND relkind IN ('r', 'p') AND NOT relispartition
    LOOP
        EXECUTE format(
            'ALTER TABLE %I ADD planted_note text, ADD planted_flag boolean NOT NULL DEFAULT false',
            name
        );
        COMMIT;
    END LOOP;
END $$
'''

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("content", "0001_initial")]
    operations = [RunPostgreSQL(EACH_TABLE)]
"""
TABLE: Final = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("planted", "0001_columns")]
    operations = [
        migrations.CreateModel("Note", [
            ("id", models.BigAutoField(primary_key=True)),
            ("post", models.ForeignKey("content.Post", models.CASCADE)),
        ]),
    ]
"""
INDEX: Final = """
from django.db import migrations
from proofroom.core.database.operations import RunPostgreSQL

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("planted", "0002_table")]
    operations = [
        RunPostgreSQL("CREATE INDEX CONCURRENTLY planted_flags ON content_post (planted_flag)")
    ]
"""
EXPAND: Final = {"0001_columns": COLUMNS, "0002_table": TABLE, "0003_index": INDEX}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the code of the release before."""
    return unpack_release_before(tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def tables(before: Path) -> str:
    """Return the name of a database that the release before has migrated."""
    environ = {"PYTHONPATH": str(before), "DJANGO_SETTINGS_MODULE": "cms_project.settings"}
    done = run_command(
        [sys.executable, "-c", MIGRATED], cwd=before, env={**os.environ, **environ}, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        yield found


@pytest.fixture
def upgrade(tmp_path: Path, before: Path, tables: str, receiver: Receiver) -> Iterator[Upgrade]:
    """Yield a site on which the release before runs."""
    with own_database("upgrade", tables) as database:
        found = Upgrade(tmp_path, database, before, receiver)
        try:
            found.start()
            yield found
        finally:
            found.stop()


def migrate_as_new(upgrade: Upgrade, **planted: str) -> None:
    """Migrate with the code of this checkout, and with planted migrations after its own."""
    site = upgrade.new[0]
    package = upgrade.folder / "packages/planted"
    (package / "migrations").mkdir(parents=True)
    for name in ("__init__.py", "migrations/__init__.py"):
        (package / name).touch()
    (package / "settings.py").write_text(
        "from tests.faults.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'planted']\n"
    )
    for name, text in planted.items():
        (package / f"migrations/{name}.py").write_text(text)
    with_planted = {
        "DJANGO_SETTINGS_MODULE": "planted.settings",
        "PYTHONPATH": f"{site.root}{os.pathsep}{package.parent}",
    }
    migrate(site.root, site.environ)
    migrate(site.root, {**site.environ, **with_planted}, "planted")


def do_everything(upgrade: Upgrade, receiver: Receiver, title: str) -> None:
    """Edit a draft, let an agent propose, approve, publish, and read the result, as person and program."""
    api = upgrade.api
    post = upgrade.create_post(title)
    url = f"/api/posts/{post}"
    said(api.put(url, json={"excerpt": f"Excerpt of {title}."}))
    said(api.post(f"{url}/agents/{AGENT}/run", json={}))
    until(
        "a proposal",
        lambda: said(api.get(f"{url}/changes?layer=ai-review"))["changes"],
        300,
    )
    submitted = said(api.post(f"{url}/ai-review/submit", json={}))["submitted"]
    digest = said(api.get(f"{url}/changes?layer=review"))["digest"]
    person = upgrade.person()
    approved = person.send("POST", f"{url}/review/approve", json={"digest": digest})
    assert submitted
    assert approved["layers"]["review"]["exists"] is False

    person.send("PUT", url, json={"status": "published"})
    assert said(api.get(f"/api/public/posts/{post}"))["excerpt"] == approved["excerpt"]
    page = api.get(f"/{approved['slug']}")
    assert (page.status_code, title in page.text) == (200, True)
    until(
        f"an event for {title}",
        lambda: [seen for seen in receiver.at("/all") if seen.json()["data"]["title"] == title],
        300,
    )
    cookies = "; ".join(f"{name}={value}" for name, value in person.cookies().items())
    for path in ("/admin/", "/admin/content/post/", f"/admin/content/post/{post}/change/"):
        shown = person.http.get(path, headers={"Cookie": cookies})
        assert shown.status_code == 200, (path, shown.status_code, shown.text[:500])


def said(answer: Any) -> Any:
    assert answer.status_code < 300, (answer.request.url, answer.status_code, answer.text)
    return answer.json()


def test_processes_are_replaced_one_by_one_without_a_failed_request(
    upgrade: Upgrade, before: Path, receiver: Receiver
) -> None:
    code = "import content, json; print(json.dumps(content.__file__))"
    assert upgrade.old[0].ask(code).startswith(str(before))

    with upgrade.stream().running() as stream:
        stream.wait_for(10)
        migrate_as_new(upgrade, **EXPAND)
        do_everything(upgrade, receiver, "Old site and old worker")
        upgrade.replace_worker()
        do_everything(upgrade, receiver, "Old site and new worker")
        upgrade.replace_web()
        do_everything(upgrade, receiver, "New site and new worker")
        stream.wait_for(10)
    stream.require_no_failure()
    sys.stdout.write(f"{stream.count} requests of the stream\n")
    for site in (*upgrade.old, *upgrade.new):
        for log in site.folder.glob("*.log"):
            assert "Traceback" not in log.read_text(), log.read_text()[-4000:]


def test_a_dropped_column_fails_the_drill(upgrade: Upgrade) -> None:
    with upgrade.stream().running() as stream:
        stream.wait_for(10)
        stream.require_no_failure()
        with psycopg.connect(upgrade.database, autocommit=True) as database:
            database.execute("ALTER TABLE content_post DROP COLUMN excerpt")
        stream.wait_for(20)

    with pytest.raises(AssertionError, match=": 500"):
        stream.require_no_failure()
