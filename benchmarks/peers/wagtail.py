"""Wagtail in its own environment below the data folder, with the posts of the run as pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from benchmarks import postgres
from benchmarks.endpoints import Endpoint
from benchmarks.load import get
from benchmarks.peers.environments import output
from benchmarks.servers import Server, running

PACKAGES: Final = ("wagtail>=8,<9", "psycopg[binary]>=3.2,<4", "granian>=2,<3")
SITE: Final = Path(__file__).with_name("wagtail_site")


def install(folder: Path) -> Path:
    """Create the environment if it is missing. Return its Python. Raises `Unavailable`."""
    python = folder / "bin" / "python"
    if not python.exists():
        _output([sys.executable, "-m", "venv", str(folder)], {})
    if subprocess.run([python, "-c", "import wagtail, granian"], capture_output=True).returncode:
        _output([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], {})
    return python


def versions(python: Path) -> str:
    code = "import django, wagtail; print(f'Wagtail {wagtail.__version__} on Django {django.__version__}')"
    return _output([str(python), "-c", code], {}).strip()


@contextmanager
def serve(
    python: Path, url: str, posts: int, workers: int
) -> Iterator[tuple[Server, list[Endpoint]]]:
    """Run the site with this number of pages, in a database on the same server, under the product's server."""
    with postgres.another_database(url, "peer") as address:
        environ = {"PEER_DATABASE": address, "DJANGO_SETTINGS_MODULE": "site_settings"}
        _output([str(python), "-m", "django", "migrate", "--verbosity", "0"], environ)
        pages = json.loads(_output([str(python), "seed_articles.py", url, str(posts)], environ))
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        port = postgres.free_port()
        command = [
            str(python), "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
            "--port", str(port), "--workers", str(workers), "--blocking-threads", "1",
            "--log-level", "warning", "site_wsgi:application",
        ]  # fmt: skip
        path = f"/api/v2/pages/{pages[0][0]}/"
        with running("wagtail", command, port, _environ(environ), path) as server:
            yield server, _endpoints(pages)


def _endpoints(pages: list[tuple[int, str]]) -> list[Endpoint]:
    listed = "/api/v2/pages/?type=articles.ArticlePage&fields=*&limit=20&order=-first_published_at"
    ids = [f"/api/v2/pages/{number}/" for number, _ in pages]
    paths = [path for _, path in pages]
    return [
        Endpoint("Wagtail: list of 20", get(lambda n: listed), "live list", None),
        Endpoint("Wagtail: one page", get(lambda n: ids[n % len(ids)]), "live post", None),
        Endpoint("Wagtail: HTML of a page", get(lambda n: paths[n % len(paths)]), "page", None),
    ]


def _environ(values: dict[str, str]) -> dict[str, str]:
    return {"PYTHONPATH": str(SITE), **values}


def _output(command: list[str], environ: dict[str, str]) -> str:
    return output("Wagtail", command, environ=_environ(environ), cwd=SITE)
