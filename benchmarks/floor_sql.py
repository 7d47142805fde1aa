"""The hand-written SQL of the floor."""

from __future__ import annotations

from typing import Final

LISTED: Final = (
    "id", "type", "locale", "slug", "title", "excerpt", "status", "url", "parentId", "orderIndex",
    "featuredMediaId", "version", "createdAt", "updatedAt", "publishedAt",
)  # fmt: skip
WHOLE: Final = (
    *LISTED, "metaTitle", "metaDescription", "canonicalUrl", "publishAt", "customFields",
    "robotsJson", "jsonldOverrides",
)  # fmt: skip
_COLUMNS: Final = (
    "p.id, p.type, p.locale, p.slug, p.title, p.excerpt, p.status, p.path, p.parent_id, "
    "p.order_index, p.featured_media_id, p.version, p.created_at, p.updated_at, p.published_at"
)
LIVE: Final = (
    "deleted_at IS NULL AND variation_of_id IS NULL AND status = 'published' AND NOT is_placeholder"
)
_ALL: Final = "deleted_at IS NULL AND variation_of_id IS NULL"
_WHERE: Final = {"live": LIVE, "staged": _ALL}

COUNT: Final = {
    kind: f"SELECT count(*) FROM content_post p WHERE {where} AND locale = 'en'"  # noqa: S608
    for kind, where in _WHERE.items()
}
LIST: Final = {
    kind: f"SELECT {_COLUMNS} FROM content_post p WHERE {where} AND locale = 'en' "  # noqa: S608
    "ORDER BY updated_at DESC, id LIMIT 20"
    for kind, where in _WHERE.items()
}
MODULES: Final = """
    SELECT m.post_id, m.id, m.instance_id, i.type, i.scope, m.order_index, m.locked,
        i.props::text, m.overrides::text, i.global_slug
    FROM content_postmodule m JOIN content_moduleinstance i ON i.id = m.instance_id
    WHERE m.post_id = ANY(%s) ORDER BY m.post_id, m.order_index, m.id
"""
DRAFTS: Final = """
    SELECT d.post_id, d.layer, d.version, d.updated_at, d.updated_by_id, u.username
    FROM content_draft d LEFT JOIN proofroom_accounts_user u ON u.id = d.updated_by_id
    WHERE d.post_id = ANY(%s) AND NOT d.is_empty
"""
POST: Final = f"""
    SELECT {_COLUMNS}, p.meta_title, p.meta_description, p.canonical_url, p.publish_at,
        p.custom_fields::text, p.robots_json::text, p.jsonld_overrides::text,
        p.translation_group, p.author_id, u.username, p.is_placeholder,
        p.variation_of_id, p.variation, p.variation_weight, p.variation_running
    FROM content_post p LEFT JOIN proofroom_accounts_user u ON u.id = p.author_id
    WHERE p.id = %s AND deleted_at IS NULL
"""  # noqa: S608
TERMS: Final = "SELECT term_id FROM post_taxonomy_terms WHERE post_id = %s ORDER BY term_id"
OTHERS: Final = {
    kind: f"SELECT id, locale FROM content_post WHERE {where} AND translation_group = %s "  # noqa: S608
    "AND id <> %s ORDER BY locale"
    for kind, where in _WHERE.items()
}
