"""The hand-written SQL of the floor."""

from __future__ import annotations

from typing import Final

LISTED: Final = (
    "id", "type", "locale", "slug", "title", "excerpt", "status", "url", "parentId", "orderIndex",
    "featuredMediaId", "version", "createdAt", "updatedAt", "publishedAt",
)  # fmt: skip
WHOLE: Final = (
    *LISTED, "metaTitle", "metaDescription", "canonicalUrl", "publishAt", "unpublishAt",
    "customFields", "robotsJson", "jsonldOverrides",
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
        p.unpublish_at, p.custom_fields::text, p.robots_json::text, p.jsonld_overrides::text,
        p.translation_group, p.author_id, u.username, p.authors::text, p.byline, p.is_placeholder,
        p.variation_of_id, p.variation, p.variation_weight, p.variation_running
    FROM content_post p LEFT JOIN proofroom_accounts_user u ON u.id = p.author_id
    WHERE p.id = %s AND deleted_at IS NULL
"""  # noqa: S608
PUBLISHED: Final = f"""
    SELECT {_COLUMNS}, p.meta_title, p.meta_description, p.canonical_url, p.publish_at,
        p.unpublish_at, p.custom_fields::text, p.robots_json::text, p.jsonld_overrides::text, p.translation_group
    FROM content_post p WHERE p.id = ANY(%s) AND {LIVE}
"""  # noqa: S608
CARDS: Final = f"""
    SELECT {_COLUMNS}, p.custom_fields::text FROM content_post p WHERE p.id = ANY(%s) AND {LIVE}
"""  # noqa: S608
TERMS_OF: Final = """
    SELECT l.post_id, t.id, t.taxonomy, t.slug, t.name, t.order_index, t.locale, t.parent_id
    FROM post_taxonomy_terms l JOIN proofroom_taxonomies_term t ON t.id = l.term_id
    WHERE l.post_id = ANY(%s) ORDER BY t.id
"""
MEDIA_OF: Final = """
    SELECT r.holder_id, r.path, a.id, a.file, a.mime, a.status, a.width, a.height, a.variants,
        a.dark_variants, a.focal_x, a.focal_y, a.alt_text,
        a.duration, a.poster_file, a.captions
    FROM media_mediareference r JOIN media_asset a ON a.id = r.asset_id
    WHERE r.holder_kind = 'post' AND r.layer = 'live' AND r.holder_id = ANY(%s) ORDER BY a.id
"""
OTHERS_OF: Final = f"""
    SELECT translation_group, id, locale, title, path FROM content_post
    WHERE {LIVE} AND translation_group = ANY(%s) ORDER BY locale
"""  # noqa: S608
AROUND: Final = f"""
    SELECT id, locale, title, path FROM content_post WHERE {LIVE} AND path = ANY(%s)
    ORDER BY published_at, id
"""  # noqa: S608
TERMS: Final = "SELECT term_id FROM post_taxonomy_terms WHERE post_id = %s ORDER BY term_id"
OTHERS: Final = f"""
    SELECT id, locale FROM content_post WHERE {_ALL} AND translation_group = %s AND id <> %s
    ORDER BY locale
"""  # noqa: S608
