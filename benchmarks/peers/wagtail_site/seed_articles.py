"""`python seed_articles.py ADDRESS COUNT`: creates pages from the first published posts of the product's database.

Prints ids and paths of the pages as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from html import escape
from typing import Any

import django
import psycopg

_POSTS = """
    SELECT p.slug, p.title, p.excerpt, p.meta_title,
        (SELECT json_agg(json_build_array(i.type, i.props) ORDER BY m.order_index) FROM content_postmodule m
            JOIN content_moduleinstance i ON i.id = m.instance_id WHERE m.post_id = p.id)
    FROM content_post p WHERE p.status = 'published' AND p.locale = 'en' ORDER BY p.published_at DESC, p.id LIMIT %s
"""


def paragraphs(value: object) -> str:
    """Return the texts of a rich text as HTML paragraphs."""
    found: list[str] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("text"), str):
                found.append(node["text"])
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(value)
    return "".join(f"<p>{escape(text)}</p>" for text in found)


def block_of(kind: str, props: dict[str, Any]) -> tuple[str, Any]:
    if kind == "hero":
        value = {"title": props["title"], "subtitle": props["subtitle"]}
        return "hero", {**value, "link_label": props["ctaLabel"], "link_url": props["ctaUrl"]}
    if kind == "prose":
        return "prose", paragraphs(props["content"])
    if kind == "features-list":
        return "features", {"heading": props["heading"], "items": props["items"]}
    if kind == "faq":
        items = [
            {"question": item["question"], "answer": paragraphs(item["answer"])}
            for item in props["items"]
        ]
        return "questions", {"heading": props["heading"], "items": items}
    body = paragraphs(props["body"])
    return "callout", {"title": props["title"], "body": body, "tone": props["tone"]}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
    django.setup()
    from articles.models import ArticlePage
    from django.db import transaction
    from wagtail.models import Site

    address, count = sys.argv[1], int(sys.argv[2])
    with psycopg.connect(address) as connection:
        rows = connection.execute(_POSTS, (count,)).fetchall()
    home = Site.objects.get(is_default_site=True).root_page
    made = []
    with transaction.atomic():
        for slug, title, excerpt, meta_title, modules in rows:
            blocks = [block_of(kind, props) for kind, props in modules]
            stream = [{"type": kind, "value": value} for kind, value in blocks]
            page = ArticlePage(
                slug=slug, title=title, excerpt=excerpt, seo_title=meta_title,
                body=json.dumps(stream),
            )  # fmt: skip
            home.add_child(instance=page)
            made.append([page.pk, f"/{slug}/"])
    print(json.dumps(made))


if __name__ == "__main__":
    main()
