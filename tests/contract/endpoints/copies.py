"""Translations, variations, preview links, the trash and import."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from django.utils import timezone

from content.models import CopyOrigin, Post
from content.posts.edit import edit_post
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from content.store import document_edits
from content.translations.translate import create_translation
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names


def scene() -> Names:
    editor = make.actor("editor")
    post = make.post()
    translation = create_translation(post_id=post.pk, locale="de", actor=editor)
    edit_post(
        post_id=post.pk,
        actor=editor,
        edit=lambda document: document_edits.patch_fields(document, {"title": "Moved on"}),
    )
    variation = create_variation(post_id=post.pk, variation="B", actor=editor)
    link, _ = create_preview_link(post_id=post.pk, layer="review", actor=editor)
    other = make.post("Not translated", slug="not-translated")
    gone = make.post("In the trash", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    document = ApiClient("editor").read(f"/api/posts/{post.pk}/export")
    return {
        "post_id": str(post.pk),
        "other_id": str(other.pk),
        "translation_id": str(translation.pk),
        "variation_id": str(variation.pk),
        "link_id": str(link.pk),
        "document": document,
    }


def grow_translations(number: int) -> None:
    """Add translations in languages unknown to the site, because each language has only one."""
    first = Post.objects.filter(translated_from__isnull=False).earliest("created_at")
    taken = Post.objects.count()
    rows = make.copies(first, number, locale=lambda place: f"x{taken + place}")
    origin = CopyOrigin.objects.get(post=first)
    make.copies(origin, number, post_id=lambda place: rows[place].pk)


def grow_variations(number: int) -> None:
    first = Post.objects.filter(variation_of__isnull=False).earliest("created_at")
    make.copies(
        first,
        number,
        variation=lambda _: uuid4().hex[:20],
        translation_group=lambda _: uuid4(),
    )


def grow_trash(number: int) -> None:
    first = Post.objects.filter(deleted_at__isnull=False).earliest("created_at")
    make.copies(
        first,
        number,
        slug=lambda _: uuid4().hex,
        translation_group=lambda _: uuid4(),
        deleted_at=lambda _: timezone.now(),
    )


def grow_links(number: int) -> None:
    make.copies(PreviewLink.objects.all()[:1].get(), number, token_hash=lambda _: uuid4().hex)


XLIFF: Final = b'<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de"/>'
ENDPOINTS = [
    Endpoint(
        "GET /api/posts/<post_id>/translations",
        PEOPLE,
        invalid=("?page=0", "page"),
        grow=grow_translations,
    ),
    Endpoint(
        "POST /api/posts/<other_id>/translations",
        PEOPLE,
        201,
        body={"locale": "de", "title": "Übersetzt"},
        invalid=({"locale": "xx"}, "locale"),
    ),
    Endpoint(
        "POST /api/posts/<translation_id>/translations/up-to-date",
        PEOPLE,
        body={"paths": ["post.title"]},
        invalid=({"paths": ["post.nonsense"]}, "paths"),
    ),
    Endpoint(
        "GET /api/posts/<other_id>/xliff",
        PEOPLE,
        query="?locale=de",
        invalid=("?locale=xx", "locale"),
    ),
    Endpoint(
        "POST /api/xliff",
        PEOPLE,
        body={"file": XLIFF},
        invalid=({"file": b"<xliff/>"}, "file"),
        is_multipart=True,
    ),
    Endpoint(
        "GET /api/posts/<post_id>/variations",
        PEOPLE,
        invalid=("?per_page=101", "per_page"),
        grow=grow_variations,
    ),
    Endpoint(
        "POST /api/posts/<post_id>/variations",
        EDITORS,
        201,
        body={"variation": "C", "weight": 10},
        invalid=({"variation": "B"}, "variation"),
    ),
    Endpoint(
        "PATCH /api/posts/<post_id>/variations/<variation_id>",
        EDITORS,
        body={"weight": 30, "running": True},
        invalid=({"weight": 101}, "weight"),
    ),
    Endpoint(
        "POST /api/posts/<post_id>/promote-variation",
        EDITORS,
        body={"variationId": "<variation_id>"},
        invalid=({"variationId": "<other_id>"}, "variationId"),
    ),
    Endpoint(
        "GET /api/posts/<post_id>/preview-links",
        EDITORS,
        invalid=("?page=x", "page"),
        grow=grow_links,
    ),
    Endpoint(
        "POST /api/posts/<post_id>/preview-links",
        EDITORS,
        201,
        body={"layer": "review", "expiresInHours": 1},
        invalid=({"expiresInHours": 721}, "expiresInHours"),
    ),
    Endpoint("DELETE /api/posts/<post_id>/preview-links/<link_id>", EDITORS),
    Endpoint("GET /api/posts/trash", EDITORS, invalid=("?page=0", "page"), grow=grow_trash),
    Endpoint(
        "POST /api/posts/import",
        EDITORS,
        201,
        body={"document": "<document>", "slug": "imported"},
        invalid=({"document": {"schemaVersion": 2}}, "document.schemaVersion"),
    ),
]
