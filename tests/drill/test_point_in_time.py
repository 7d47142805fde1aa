"""docs/how-to/recover-to-a-point-in-time.md, word for word: a mistake is undone, and the files are still there."""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.deployment.written import DOCS, blocks, script
from tests.drill.server import Server
from tests.drill.site_record import are_ready, until, upload
from tests.drill.test_restore import ON_A_SERVER, own_paths
from tests.drill.test_restore import PAGE as BACKUP_PAGE
from tests.faults.postgresql import OwnPostgresql
from tests.ports import free_port
from tests.receiver import Receiver

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed"),
]
PAGE: Final = DOCS / "how-to/recover-to-a-point-in-time.md"
EMPTY_TRASH: Final = """
from datetime import timedelta
from django.db.models import F
from content.models import Post
from content.posts.trash import purge_trash
from proofroom.accounts.queries import find_operator
Post.objects.filter(deleted_at__isnull=False).update(deleted_at=F("deleted_at") - timedelta(days=2))
assert purge_trash(actor=find_operator(), days=1) == 1
"""


def backups(server: Server) -> Path:
    """Return the folder in place of `/var/backups`, which PostgreSQL may write to."""
    folder = server.postgresql.data.parent / "backups"
    if not folder.exists():
        folder.mkdir()
        if os.getuid() == 0:
            for path in (folder, folder.parent):
                shutil.chown(path, "postgres")
    return folder


def as_postgres(commands: str, server: Server, postgresql: OwnPostgresql) -> None:
    """Run the page's commands as the account of the database, with the folder of a server in `PGDATA`."""
    words = ["/bin/sh", "-euc", commands.replace("/var/backups", str(backups(server)))]
    if os.getuid() == 0:
        words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *words]
    environ = {
        "PATH": f"{postgresql.bin}:/usr/bin:/bin",
        "PGDATA": str(postgresql.data),
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgresql.port),
        "PGUSER": "postgres",
    }
    done = subprocess.run(
        words, cwd="/", env=environ, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, (commands, done.stderr)


def archive_log(server: Server) -> None:
    """Turn on the archive of the log as the page says."""
    [settings] = blocks(PAGE, "ini")
    with (server.postgresql.data / "postgresql.conf").open("a") as file:
        file.write(settings.replace("/var/backups", str(backups(server))))
    server.postgresql.restart()


def wait_until_promoted(postgresql: OwnPostgresql) -> None:
    def is_promoted() -> bool:
        with psycopg.connect(postgresql.url, autocommit=True) as connection:
            [(is_standby,)] = connection.execute("SELECT pg_is_in_recovery()").fetchall()
            return not is_standby

    until("the end of the recovery", is_promoted)


def second_server(server: Server) -> OwnPostgresql:
    """Return a server that has no folder yet."""
    second = copy.copy(server.postgresql)
    second.data = second.data.parent / "second"
    second.port = free_port()
    second.url = f"postgresql://postgres@127.0.0.1:{second.port}/postgres"
    return second


def test_a_mistake_is_undone_and_the_files_are_still_there(
    server: Server, receiver: Receiver
) -> None:
    sample = server.sample
    (server.home / "proofroom.env").touch()
    archive_log(server)
    as_postgres(script(PAGE, "Make a base backup"), server, server.postgresql)
    person = sample.person()
    # What only the archived log has.
    person.send("PUT", f"/api/posts/{sample.post_id}", json={"title": "After the base backup"})
    uploaded = upload(person, 7)
    with sample.program() as program:
        until("all variants", lambda: are_ready(program))
    server.run(own_paths(script(BACKUP_PAGE, ON_A_SERVER), server))
    sample.list_paths()
    before, stored = sample.read(), count_files(server)
    as_postgres(script(PAGE, "Name the moment"), server, server.postgresql)

    # The mistake: someone deletes a post and a file permanently. Another person goes on working.
    person = sample.person()
    person.http.delete(f"/api/posts/{sample.post_id}", headers=csrf(person.cookies()))
    server.run('python manage.py shell --no-imports -c "$SCRIPT"', SCRIPT=EMPTY_TRASH)
    person.http.delete(f"/api/media/{uploaded}?force=true", headers=csrf(person.cookies()))
    until("the end of the file", lambda: count_files(server) <= stored - 4)
    later = person.send("POST", "/api/posts", json={"type": "blog", "title": "After the mistake"})[
        "id"
    ]
    assert count_files(server) == stored - 4  # none of the deleted post's

    take_back_lost_post(server)
    assert person.send("GET", f"/api/posts/{later}")["title"] == "After the mistake"

    server.kill()
    server.postgresql.stop()
    as_postgres(script(PAGE, "## Recover the whole database"), server, server.postgresql)
    server.postgresql.start()
    wait_until_promoted(server.postgresql)
    missing = server.run("python manage.py check_media --missing || true")
    assert len(re.findall("missing: ", missing)) == 4  # the file and its three sizes
    assert "No problems found." in server.run(script(PAGE, "## Media and Redis"))
    server.start()

    assert sample.read() == before
    with sample.program() as program:
        assert program.get(f"/api/posts/{later}").status_code == 404
    sample.use_restored(receiver)


def take_back_lost_post(server: Server) -> None:
    """Recover a second server, and move the lost post from it into the running site."""
    second = second_server(server)
    as_postgres(script(PAGE, "## Take back only what was lost"), server, server.postgresql)
    with psycopg.connect(server.postgresql.url, autocommit=True) as primary:
        [(until_now,)] = primary.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()
        archived = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
        until("the archive", lambda: primary.execute(archived, [until_now]).fetchall() == [(True,)])
    commands = script(PAGE, "## Recover the whole database").splitlines(keepends=True)
    assert commands[0].startswith("mv ")
    as_postgres("".join(commands[1:]), server, second)
    with (second.data / "postgresql.auto.conf").open("a") as file:
        file.write("archive_mode = off\n")
    second.start()
    try:
        wait_until_promoted(second)
        url = server.site.database.replace(str(server.postgresql.port), str(second.port))
        server.run(script(PAGE, "## Take back only what was lost", 1), RECOVERED_URL=url)
    finally:
        second.stop("immediate")
    with server.sample.program() as program:
        answer = program.get(f"/api/posts/{server.sample.post_id}")
        assert answer.json()["title"] == "After the base backup"
        assert answer.json()["featuredMediaId"]


def csrf(cookies: dict[str, str]) -> dict[str, str]:
    joined = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return {"Cookie": joined, "X-CSRFToken": cookies["csrftoken"]}


def count_files(server: Server) -> int:
    return sum(path.is_file() for path in (server.data / "media").rglob("*"))
