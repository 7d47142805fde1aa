"""The floor of pages: the same rows and texts, written as HTML, XML or Markdown without a template.

Part of the bare ASGI application. No menus, languages, metadata or rendering rules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from html import escape
from typing import Any, Final

import orjson
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from benchmarks import floor_sql as sql

Database = AsyncConnection[TupleRow]
PAGE: Final = f"""
    SELECT p.id, p.title, p.excerpt, p.meta_title, p.published_at FROM content_post p
    WHERE {sql.LIVE} AND path = %s AND locale = 'en'
"""  # noqa: S608  # no input, here and below
_BLOG: Final = f"FROM content_post p WHERE {sql.LIVE} AND locale = 'en' AND type = 'blog'"
COUNT: Final = f"SELECT count(*) {_BLOG}"
NEWEST: Final = (
    f"SELECT p.id, p.title, p.excerpt, p.path, p.published_at {_BLOG} "
    "ORDER BY published_at DESC, id LIMIT %s"
)
_FOUND: Final = f"""
    FROM content_searchentry s JOIN content_post p ON p.id = s.post_id, to_tsquery('simple', %s) AS q
    WHERE {sql.LIVE} AND locale = 'en' AND s.document @@ q
"""
HITS: Final = f"SELECT count(*) {_FOUND}"
BEST: Final = (
    f"SELECT p.id, p.title, p.excerpt, p.path {_FOUND} "
    "ORDER BY ts_rank(s.document, q) DESC, p.updated_at DESC, p.id LIMIT 10"
)


def words_of(value: object) -> Iterator[str]:
    """Yield all texts in the props of a module."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in {"type", "icon", "tone", "theme"}:
                yield from words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of(inner)


async def _texts(connection: Database, ids: list[Any]) -> dict[Any, list[str]]:
    found: dict[Any, list[str]] = {}
    for row in await (await connection.execute(sql.MODULES, (ids,))).fetchall():
        found.setdefault(row[0], []).extend(words_of(orjson.loads(row[7])))
    return found


async def page(connection: Database, path: str) -> str:
    row = await (await connection.execute(PAGE, (path,))).fetchone()
    assert row is not None
    texts = (await _texts(connection, [row[0]]))[row[0]]
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return (
        f"<!doctype html><title>{escape(row[3])}</title><h1>{escape(row[1])}</h1>"
        f"<p>{escape(row[2])}</p>{paragraphs}"
    )


async def markdown(connection: Database, path: str) -> str:
    row = await (await connection.execute(PAGE, (path,))).fetchone()
    assert row is not None
    texts = (await _texts(connection, [row[0]]))[row[0]]
    return "\n\n".join([f"# {row[1]}", row[2], *texts])


async def listing(connection: Database, path: str) -> str:
    total = (await (await connection.execute(COUNT)).fetchone() or (0,))[0]
    rows = await (await connection.execute(NEWEST, (12,))).fetchall()
    cards = "".join(
        f'<article><h2><a href="{escape(row[3])}">{escape(row[1])}</a></h2><p>{escape(row[2])}</p>'
        f"<time>{row[4]:%Y-%m-%d}</time></article>"
        for row in rows
    )
    return f"<!doctype html><title>Blog</title><h1>Blog</h1>{cards}<p>{total}</p>"


async def feed(connection: Database, path: str) -> str:
    rows = await (await connection.execute(NEWEST, (20,))).fetchall()
    items = "".join(
        f"<item><title>{escape(row[1])}</title><link>{escape(row[3])}</link>"
        f"<description>{escape(row[2])}</description><guid>urn:uuid:{row[0]}</guid>"
        f"<pubDate>{row[4]:%a, %d %b %Y %H:%M:%S +0000}</pubDate></item>"
        for row in rows
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title>{items}</channel></rss>'


async def search(connection: Database, path: str) -> str:
    """Return the search results. The path holds the words; each result has a snippet around the first match."""
    words = path.strip("/").split()
    question = f"{' & '.join(words)}:*"
    total = (await (await connection.execute(HITS, (question,))).fetchone() or (0,))[0]
    rows = await (await connection.execute(BEST, (question,))).fetchall()
    texts = await _texts(connection, [row[0] for row in rows])
    results = []
    for row in rows:
        whole = "\n".join([row[2], *texts.get(row[0], ())])
        begin = max(0, whole.lower().find(words[0]) - 60)
        snippet = escape(whole[begin : begin + 220])
        for word in words:
            snippet = snippet.replace(word, f"<mark>{word}</mark>")
        results.append(f'<li><a href="{escape(row[3])}">{escape(row[1])}</a><p>{snippet}</p></li>')
    return f"<!doctype html><title>Search</title><p>{total}</p><ol>{''.join(results)}</ol>"


PAGES: Final[dict[str, Callable[[Database, str], Awaitable[str]]]] = {
    "page": page,
    "markdown": markdown,
    "listing": listing,
    "feed": feed,
    "search": search,
}
