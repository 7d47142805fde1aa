"""Admin pages in German: no English sentences of ours, and translated rules."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from content.models import Layer
from proofroom.accounts.services.tokens import create_token
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.catalogue import catalogue_of
from proofroom.definitions import find_module, validate_props
from proofroom_apps.feedback.services import create_feedback
from tests import make
from tests.api_client import ApiClient
from tests.words.test_catalogue import entries

pytestmark = pytest.mark.django_db

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
PAGES = (
    "/admin/",
    "/admin/inbox/",
    "/admin/content/post/",
    "/admin/content/post/add/",
    "/admin/content/post/{post}/change/",
    "/admin/content/post/{post}/review/?layer=ai-review",
    "/admin/content/post/{post}/revisions/",
    "/admin/media/asset/",
    "/admin/forms/formdefinition/",
    "/admin/content/urlpattern/",
    "/admin/seo/redirect/",
    "/admin/proofroom_webhooks/webhook/add/",
    "/admin/proofroom_accounts/user/",
    "/admin/proofroom_accounts/apitoken/add/",
    "/admin/proofroom_core/event/",
)
CHOICES = {
    "/admin/proofroom_accounts/user/add/": ("Redaktion", "Editor"),
    "/admin/proofroom_accounts/apitoken/": ("gültig", "active"),
    "/admin/proofroom_feedback/feedback/{note}/change/": ("Formulierung", "Copy"),
    "/admin/content/moduleinstance/add/": ("Hinweiskasten", "Callout"),
    "/admin/content/post/{post}/change/": ("Veröffentlicht", "Published"),
    "/admin/content/post/{post}/revisions/": ("Bearbeitet", "Edited"),
    "/admin/content/replacement/add/": ("Beiträge", "Posts"),
    "/admin/proofroom_taxonomies/term/?taxonomy=topics": ("Themen", "Topics"),
    "/admin/proofroom_core/event/": ("MCP-Tokens", "Mcp_token"),
    "/admin/seo/redirect/import/": ("5.000", "5,000"),
    "/admin/proofroom_webhooks/webhook/add/": ("Beitrag angelegt", "Post created"),
}
"""Texts on pages that come from definitions and rows: expected and ignored ones."""
TEXT = re.compile(r">([^<>]+)<")
HIDDEN = re.compile(r"<(script|style|textarea|code|pre)\b.*?</\1>", re.S)


def english() -> set[str]:
    """Return the admin's sentences whose German translation differs, without placeholders."""
    said = set()
    for entry in entries(catalogue_of("de").read_text()):
        one = entry.parts["msgid"]
        if "%(" not in one and " " in one and entry.translations != [one]:
            said.add(one)
    return said


def test_pages_in_german_hold_no_english_sentence() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Wartet"})
    make.staged(post, {"title": "Wartet"}, layer=Layer.REVIEW)
    client, known = ApiClient("admin"), english()
    left: dict[str, list[str]] = {}

    for page in PAGES:
        answer = client.get(page.format(post=post.pk), headers=GERMAN)
        assert answer.status_code == 200, page
        assert '<html lang="de"' in answer.content.decode()
        texts = TEXT.findall(HIDDEN.sub("", answer.content.decode()))
        if found := sorted({text.strip() for text in texts} & known):
            left[page] = found

    assert left == {}, left


def test_rules_of_services_are_said_in_german_where_people_read_them() -> None:
    client = ApiClient("admin")
    fields = {"name": "", "url": "nowhere", "events": []}

    answer = client.send_form(
        "POST", "/admin/proofroom_webhooks/webhook/add/", fields, headers=GERMAN
    )

    assert answer.status_code == 422
    assert "Dieses Feld ist zwingend erforderlich." in answer.content.decode()


def test_module_field_lengths_are_shown_in_german() -> None:
    definition = find_module("hero")

    with translation.override("de"), pytest.raises(RuleViolation) as refused:
        validate_props(definition.name, {"title": "x" * 161})

    assert refused.value.details == {
        "props.title": ["Der Text darf höchstens 160 Zeichen haben."],
    }


def test_choices_and_rows_are_shown_in_german() -> None:
    post, admin = make.edited(make.post(), {"title": "Neu"}), make.actor("admin")
    note = create_feedback(post_id=str(post.pk), content="Zu lang?", actor=admin)
    create_token(name="Frontend", permissions=["posts.view"], actor=admin)
    client, wrong = ApiClient("admin"), []

    for page, (german, english) in CHOICES.items():
        answer = client.get(page.format(post=post.pk, note=note.pk), headers=GERMAN)
        said = " ".join(text.strip() for text in TEXT.findall(answer.content.decode()))
        if german not in said or re.search(rf"\b{english}\b", said):
            wrong.append(page)

    assert wrong == []
