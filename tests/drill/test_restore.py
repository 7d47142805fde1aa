"""docs/how-to/back-up.md, word for word: everything is destroyed and restored, and the site reads the same.

`tests/deployment/test_restore.py` does the same with `./run` on SQLite.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import Final

import psycopg
import pytest
import redis

from tests.deployment.written import DOCS, ROOT, script
from tests.drill.server import Server
from tests.drill.site_record import Writer
from tests.receiver import Receiver

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed"),
]
PAGE: Final = DOCS / "how-to/back-up.md"
ON_A_SERVER: Final = "## PostgreSQL on a server"
IN_CONTAINERS: Final = "## Containers"
CHECK: Final = "## Schedule and check"


def own_paths(commands: str, server: Server) -> str:
    """Return the commands with a file of this test instead of the one in `/etc`."""
    return commands.replace("/etc/proofroom.env", str(server.home / "proofroom.env"))


def install_docker(server: Server) -> dict[str, str]:
    """Put a program `docker` into a folder, and return the variables that make the shell find and use it."""
    bin_folder = server.home / "bin"
    bin_folder.mkdir(exist_ok=True)
    docker = bin_folder / "docker"
    docker.write_text(
        f'#!/bin/sh\nexec {sys.executable} {ROOT / "tests/drill/docker_commands.py"} "$@"\n'
    )
    docker.chmod(0o755)
    return {
        "PATH": f"{bin_folder}:{server.site.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server.postgresql.port),
        "COMPOSE_FILE": str(ROOT / "deploy/compose.yaml"),
        "COMPOSE_CALLS": str(server.home / "compose-calls"),
    }


@pytest.mark.parametrize("section", [ON_A_SERVER, IN_CONTAINERS])
def test_a_site_reads_the_same_after_a_restore(
    section: str, server: Server, receiver: Receiver
) -> None:
    variables: dict[str, str] = {}
    if section == IN_CONTAINERS:
        variables = install_docker(server)
        (server.folder / ".env").write_text("SITE_HOST=cms.example.com\n")
    (server.home / "proofroom.env").write_text("SECRET_KEY=…\n")
    sample = server.sample
    before, found_before = sample.read(), server.doctor()
    assert sample.read() == before
    writer = Writer(sample)
    with writer.writing():
        first = len(writer.confirmed)
        begun = time.monotonic()
        server.run(own_paths(script(PAGE, section), server), **variables)
        backed_up = time.monotonic() - begun

    # The mistake, and then the loss of everything.
    with sample.program() as program:
        program.delete(f"/api/posts/{sample.post_id}")
    server.kill()
    server.destroy_data()
    if section == ON_A_SERVER:
        server.create_database()
        with psycopg.connect(server.site.database, autocommit=True) as database:
            database.execute("CREATE TABLE content_post (id integer)")
    else:
        (server.folder / ".env").unlink()
        with psycopg.connect(server.site.database, autocommit=True) as database:
            database.execute("TRUNCATE content_post CASCADE")
    with redis.Redis.from_url(server.site.environ["REDIS_URL"]) as queue:
        queue.set("of-the-lost-database", "1")

        begun = time.monotonic()
        said = server.run(own_paths(script(PAGE, section, 1), server), **variables)
        restored = time.monotonic() - begun
        assert queue.get("of-the-lost-database") is None
    assert "No problems found." in said
    sys.stdout.write(f"{section}: backup {backed_up:.1f} s, restore {restored:.1f} s\n")

    server.start()
    assert sample.read() == before
    assert server.doctor() <= found_before
    written = sample.written_titles()
    assert written == writer.confirmed[: len(written)]
    assert len(written) >= first
    if section == IN_CONTAINERS:
        assert (server.folder / ".env").read_text() == "SITE_HOST=cms.example.com\n"
        calls = (server.home / "compose-calls").read_text().splitlines()
        assert calls == ["stop", "up db redis", "up"]
    else:
        server.run(script(PAGE, CHECK))
    sample.use_restored(receiver)
    with sample.program() as program:
        for post in written_ids(server):
            assert program.delete(f"/api/posts/{post}").is_success


def written_ids(server: Server) -> list[str]:
    with psycopg.connect(server.site.database) as database:
        rows = database.execute(
            "SELECT id::text FROM content_post WHERE title LIKE %s AND deleted_at IS NULL",
            [f"{Writer.TITLE}%"],
        )
        return [row[0] for row in rows]
