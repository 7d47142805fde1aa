"""docs/how-to/back-up.md, word for word, with `./run`: the site reads the same after a restore."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.deployment.written import DOCS, ROOT, script
from tests.drill.site_record import ADD_APP, SampleSite, Writer
from tests.make import PASSWORD
from tests.migrated import give_database
from tests.receiver import serving
from tests.served import environ, prepare, served

pytestmark = pytest.mark.deployment
PAGE: Final = DOCS / "how-to/back-up.md"
_CHECKOUT: Final = ("run", "manage.py", ".venv", "requirements.lock", "requirements-dev.lock")
MAKE_PEOPLE: Final = f"""
from tests import make
make.user("admin"), make.user("translator")
{ADD_APP}
"""


def test_a_site_reads_the_same_after_a_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY")  # the site makes one
    monkeypatch.setenv("OUTGOING_ALLOWED_HOSTS", "127.0.0.1")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in _CHECKOUT:
        (checkout / name).symlink_to(ROOT / name)
    data = checkout / "var"
    data.mkdir()
    give_database(data)
    prepare(data, MAKE_PEOPLE)

    with serving() as receiver:
        with served(data) as origin:
            site = SampleSite(origin, PASSWORD, has_worker=False)
            site.fill(receiver)
            site.propose()
            site.list_paths()
            before = site.read()
            writer = Writer(site)
            with writer.writing():
                first = len(writer.confirmed)
                run(script(PAGE, "## With ./run"), checkout)
        shutil.rmtree(data)

        said = run(script(PAGE, "## With ./run", 1), checkout)
        assert "No problems found." in said
        assert "fail" not in said

        with served(data) as site.origin:
            assert site.read() == before
            written = site.written_titles()
            assert written == writer.confirmed[: len(written)]
            assert len(written) >= first
            site.use_restored(receiver)


def run(commands: str, folder: Path) -> str:
    """Return the output of commands, which must succeed, in a folder with the data folder `var`."""
    done = subprocess.run(
        ["/bin/sh", "-euc", commands],
        cwd=folder,
        env=environ(folder / "var"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout
