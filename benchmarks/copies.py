"""Copies of the seeded posts by set-based statements. Creating 100,000 posts one by one would take an hour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg

_STATEMENTS: Final = (
    "CREATE TEMPORARY TABLE copied AS SELECT post.id AS old, number, gen_random_uuid() AS new "
    "FROM content_post AS post, generate_series(1, %s) AS number",
    "INSERT INTO content_post SELECT (jsonb_populate_record(post, jsonb_build_object("
    "'id', new, 'slug', slug || '-' || number, 'path', path || '-' || number, "
    "'translation_group', md5(translation_group::text || number)::uuid, "
    "'updated_at', updated_at - make_interval(secs => number)))).* "
    "FROM content_post AS post JOIN copied ON old = post.id",
    "INSERT INTO content_searchentry (post_id, document) SELECT new, document "
    "FROM content_searchentry JOIN copied ON old = post_id",
    "INSERT INTO post_taxonomy_terms (post_id, term_id) SELECT new, term_id "
    "FROM post_taxonomy_terms JOIN copied ON old = post_id",
    "CREATE TEMPORARY TABLE copied_places AS SELECT place.id AS old_place, new, gen_random_uuid() AS instance "
    "FROM content_postmodule AS place JOIN copied ON old = post_id",
    "INSERT INTO content_moduleinstance SELECT (jsonb_populate_record(it, jsonb_build_object('id', instance))).* "
    "FROM content_postmodule AS place JOIN copied_places ON old_place = place.id "
    "JOIN content_moduleinstance AS it ON it.id = instance_id",
    "INSERT INTO content_postmodule SELECT (jsonb_populate_record(place, jsonb_build_object("
    "'id', gen_random_uuid(), 'post_id', new, 'instance_id', instance))).* "
    "FROM content_postmodule AS place JOIN copied_places ON old_place = place.id",
    "DROP TABLE copied, copied_places",
    "VACUUM ANALYZE",
)


def multiply(url: str, posts: int) -> None:
    """Copy the seeded posts with modules, terms and search entries, until there are about `posts`."""
    with psycopg.connect(url, autocommit=True) as bare:
        (there,) = bare.execute("SELECT count(*) FROM content_post").fetchone() or (0,)
        # Without triggers: the copied rows are valid, and checking every foreign key would take long.
        bare.execute("SET session_replication_role = replica")
        copies, *rest = _STATEMENTS
        bare.execute(copies.replace("%s", str(posts // there - 1)).encode())
        for statement in rest:
            bare.execute(statement.encode())


def published(url: str, but: Sequence[str]) -> list[str]:
    """Return ids of some published posts, without the ids in `but`."""
    with psycopg.connect(url) as bare:
        rows = bare.execute(
            "SELECT id::text FROM content_post WHERE status = 'published' AND id <> ALL (%s) ORDER BY id LIMIT %s",
            (list(but), len(but)),
        )
        return [found for (found,) in rows]
