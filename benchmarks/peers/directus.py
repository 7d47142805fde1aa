"""Directus in its own folder below the data folder, with the posts of the run as items of a collection.

Modules are in a JSON field, which is faster than Directus's other way. Visitors may read published items, as in the
delivery API.
"""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg

from benchmarks import postgres
from benchmarks.endpoints import Endpoint
from benchmarks.load import get
from benchmarks.peers.environments import Unavailable, output
from benchmarks.servers import Server, running

VERSION: Final = "11.3.5"
"""The last version for Node 18 and 20."""
TOKEN: Final = "token-of-the-benchmark"  # noqa: S105  # its database is dropped at the end
_PUBLIC_POLICY: Final = "abf8a154-5b1c-4a46-ac9c-7300570f4f17"
_CLUSTER: Final = """
    const cluster = require('node:cluster');
    cluster.setupPrimary({exec: 'node_modules/directus/cli.js', args: ['start'], execArgv: []});
    for (let made = 0; made < Number(process.argv[1]); made++) cluster.fork();
"""
_TEXTS: Final = ("slug", "title", "meta_title", "status", "locale", "type")
_COLLECTION: Final = {
    "collection": "posts",
    "schema": {},
    "meta": {},
    "fields": [
        {"field": "id", "type": "uuid", "schema": {"is_primary_key": True}},
        *({"field": name, "type": "string", "schema": {}} for name in _TEXTS),
        {"field": "excerpt", "type": "text", "schema": {}},
        {"field": "published_at", "type": "timestamp", "schema": {}},
        {"field": "modules", "type": "json", "schema": {}},
    ],
}
_PERMISSION: Final = {
    "policy": _PUBLIC_POLICY,
    "collection": "posts",
    "action": "read",
    "fields": ["*"],
    "permissions": {"status": {"_eq": "published"}},
}
_POSTS: Final = """
    SELECT p.id, p.slug, p.title, p.meta_title, p.status, p.locale, p.type, p.excerpt, p.published_at,
        (SELECT json_agg(json_build_object('id', m.id, 'type', i.type, 'props', i.props) ORDER BY m.order_index)::text
            FROM content_postmodule m JOIN content_moduleinstance i ON i.id = m.instance_id WHERE m.post_id = p.id)
    FROM content_post p WHERE p.status = 'published' AND p.locale = 'en' ORDER BY p.published_at DESC, p.id LIMIT %s
"""


def install(folder: Path) -> Path:
    """Install the packages if they are missing. Return their folder. Raises `Unavailable`."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules" / "isolated-vm" / "out").exists():
        node = shutil.which("node")
        if node is None:
            raise Unavailable("Directus does not install here: there is no Node.")
        prefix = Path(node).resolve().parents[1]
        # Its sandbox is compiled. Use the headers of this Node if present, instead of downloading them.
        headers = (prefix / "include" / "node" / "node.h").exists()
        environ = {"npm_config_nodedir": str(prefix)} if headers else {}
        command = ["npm", "install", "--no-audit", "--no-fund", f"directus@{VERSION}"]
        output("Directus", command, environ=environ, cwd=folder)
    return folder


@contextmanager
def serve(
    folder: Path, url: str, posts: int, workers: int
) -> Iterator[tuple[Server, list[Endpoint]]]:
    """Run the server with this number of posts, in a database on the same server."""
    with postgres.another_database(url, "directus") as address:
        environ = {
            "DB_CLIENT": "pg",
            "DB_CONNECTION_STRING": address,
            "HOST": "127.0.0.1",
            "SECRET": TOKEN,
            "ADMIN_EMAIL": "admin@example.com",
            "ADMIN_PASSWORD": TOKEN,
            "LOG_LEVEL": "error",
            "TELEMETRY": "false",
            "PRESSURE_LIMITER_ENABLED": "false",  # it would refuse calls instead of answering them slowly
        }
        cli = "node_modules/directus/cli.js"
        output("Directus", ["node", cli, "bootstrap"], environ=environ, cwd=folder)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("UPDATE directus_users SET token = %s", (TOKEN,))
        # One process, because others would not learn of a new collection.
        with _started(folder, environ, workers=1, path="/server/ping") as server:
            _post(server, "/collections", _COLLECTION)
            _post(server, "/permissions", _PERMISSION)
        ids = _copy_posts(url, address, posts)
        with _started(folder, environ, workers, f"/items/posts/{ids[0]}") as server:
            yield server, _endpoints(ids)


@contextmanager
def _started(folder: Path, environ: Mapping[str, str], workers: int, path: str) -> Iterator[Server]:
    port = postgres.free_port()
    command = ["node", "-e", _CLUSTER, str(workers)]
    with running("directus", command, port, {**environ, "PORT": str(port)}, path, folder) as server:
        yield server


def _post(server: Server, path: str, body: Mapping[str, object]) -> None:
    request = urllib.request.Request(  # a server of ours
        f"http://127.0.0.1:{server.port}{path}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=60).close()  # noqa: S310  # as above


def _copy_posts(url: str, address: str, posts: int) -> list[UUID]:
    """Copy the first published posts of the product's database. Return their ids."""
    names = "id, slug, title, meta_title, status, locale, type, excerpt, published_at, modules"
    with psycopg.connect(url) as product, psycopg.connect(address, autocommit=True) as peer:
        rows = product.execute(_POSTS, (posts,)).fetchall()
        with peer.cursor() as cursor, cursor.copy(f"COPY posts ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        peer.execute("CREATE INDEX ON posts (published_at DESC)")
        peer.execute("VACUUM ANALYZE")
    return [row[0] for row in rows]


def _endpoints(ids: list[UUID]) -> list[Endpoint]:
    listed = "/items/posts?limit=20&sort=-published_at"
    paths = [f"/items/posts/{id_}" for id_ in ids]
    return [
        Endpoint("Directus: list of 20", get(lambda n: listed), "live list", None),
        Endpoint("Directus: one post", get(lambda n: paths[n % len(paths)]), "live post", None),
    ]
