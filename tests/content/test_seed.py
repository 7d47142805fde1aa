"""The sample content is complete, realistic and created once."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from agents_app.models import AgentRun
from content.models import Draft, ModuleInstance, Post, PostModule, Revision
from content.store.layer_state import read_marks
from media.models import Asset
from proofroom.accounts.models import User
from proofroom.briefs.models import Brief
from proofroom.core.models import Event
from proofroom.taxonomies.models import Term
from proofroom_apps.comments.models import Comment
from proofroom_apps.menus.models import Menu
from proofroom_apps.starter.demo.images import draw
from tests import make
from tests.conftest import RunOnCommit
from tests.steps.taking import LEGAL, set_steps

pytestmark = pytest.mark.django_db


def seed() -> str:
    out = StringIO()
    call_command("seed", stdout=out)
    return out.getvalue()


def counts() -> dict[str, int]:
    models: tuple[Any, ...] = (
        User, Post, PostModule, ModuleInstance, Term, Menu, Asset, Draft, Revision, Brief,
        Comment,
    )  # fmt: skip
    return {model.__name__: model.objects.count() for model in models}


def test_the_demo_is_whole_and_made_once(client: Client, run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        seed()

    _is_what_the_contract_names()
    _has_no_page_that_fails_and_no_menu_that_leads_nowhere(client)
    _has_work_waiting_in_both_layers(client)
    _has_comments_that_show_the_feature()
    _changes_nothing_when_made_again()


def _is_what_the_contract_names() -> None:
    people = {user.email: user for user in User.objects.exclude(role="ai_agent")}
    assert {(user.email, user.username, user.role) for user in people.values()} == {
        (f"{role}@example.com", role, role) for role in ("admin", "editor", "translator")
    }
    assert all(user.check_password("demo-password") for user in people.values())
    assert set(User.objects.filter(role="ai_agent").values_list("agent_id", flat=True)) >= {
        "general-assistant", "seo-specialist", "translator", "proofreader", "illustrator",
    }  # fmt: skip
    assert set(Menu.objects.values_list("slug", "locale")) == {
        (slug, locale) for slug in ("main", "footer") for locale in ("en", "de")
    }
    assert set(Brief.objects.values_list("locale", "type", "section")) == {
        ("", "", ""),
        ("de", "", ""),
    }
    placed = PostModule.objects.filter(instance__global_slug="newsletter-callout")
    assert placed.values("post").distinct().count() == 2
    assert Term.objects.filter(taxonomy="topics", parent__isnull=False).count() >= 6
    slugs = [
        set(Term.objects.filter(locale=code).values_list("slug", flat=True))
        for code in ("en", "de")
    ]
    assert slugs[0] == slugs[1]  # translations of its posts keep their topics
    blog = Post.objects.live().filter(type="blog")
    assert blog.filter(locale="en").count() >= 6
    assert blog.filter(locale="de").count() >= 3
    brew = blog.filter(slug="how-to-brew-filter-coffee")
    assert {post.locale for post in brew} == {"en", "de"}
    assert len({post.translation_group for post in brew}) == 1
    for post in brew:
        types = list(
            post.placements.order_by("order_index").values_list("instance__type", flat=True)
        )
        assert types[:4] == ["hero", "prose", "callout", "faq"]
        assert post.placements.get(instance__type="hero").locked
    assert not Asset.objects.filter(alt_text="").exists()


def _has_no_page_that_fails_and_no_menu_that_leads_nowhere(client: Client) -> None:
    paths = list(Post.objects.live().values_list("path", flat=True))
    assert {"/", "/de/", "/about/how-we-work", "/de/about/how-we-work"} <= set(paths)
    for path in (*paths, "/blog", "/de/blog"):
        response = client.get(path)
        assert response.status_code == 200, path
        html = response.content.decode()
        assert html.count("<h1>") == 1, path
        for link in _links(html):
            if link.startswith("/") and not link.startswith(("/media/", "/static/")):
                assert client.get(link).status_code == 200, (path, link)


def _links(html: str) -> set[str]:
    return {part.split('"', 1)[0] for part in html.split('<a href="')[1:]}


def _has_work_waiting_in_both_layers(client: Client) -> None:
    waiting = {
        draft.layer: draft for draft in Draft.objects.filter(is_empty=False).select_related("post")
    }
    assert set(waiting) == {"review", "ai-review"}
    assert waiting["ai-review"].post.slug == "repair-a-puncture"
    marks = read_marks(waiting["ai-review"].marks)
    assert {mark.agent_id for mark in marks.values()} == {"seo-specialist"}
    assert b"in 15 minutes" not in client.get("/blog/repair-a-puncture").content
    assert b"even in a small yard" not in client.get("/blog").content

    # No agent was started, because the sample content is complete.
    assert Event.objects.filter(name="post.create-translation").exists()
    assert not AgentRun.objects.exists()


def _has_comments_that_show_the_feature() -> None:
    threads = Comment.objects.filter(parent=None)
    assert set(threads.values_list("quote", "status", "assignee__username")) == {
        ("", "resolved", None),
        ("four minutes", "open", "editor"),
        ("Swirl the cone once, gently", "open", None),
    }
    said = Event.objects.filter(name="comment.created")
    mentioned = {id_ for event in said for id_ in event.payload["mentioned"]}
    people = User.objects.filter(pk__in=mentioned).values_list("username", flat=True)
    assert set(people) == {"editor", "translator"}


def _changes_nothing_when_made_again() -> None:
    before = counts()
    Post.objects.filter(slug="services", locale="en").update(title="Changed by a person")

    said = seed()

    assert counts() == before
    assert "0 posts created" in said
    assert "0 proposals" in said
    assert Post.objects.filter(title="Changed by a person").exists()


def test_posts_of_a_type_with_steps_begin_as_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    set_steps(monkeypatch, LEGAL)

    seed()

    assert {*Post.objects.filter(type="blog").values_list("status", flat=True)} == {"draft"}
    assert Post.objects.filter(type="page", status="published").exists()


def test_a_site_that_others_reach_gets_no_known_password(settings: Any) -> None:
    settings.SITE_URL = "https://cms.example"

    with pytest.raises(CommandError, match="known password"):
        seed()

    assert not User.objects.filter(email="admin@example.com").exists()
    assert not Post.objects.exists()


def test_pictures_are_the_same_every_time() -> None:
    assert draw("rings", "chain") == draw("rings", "chain")
    assert draw("rings", "chain") != draw("rings", "other")


@pytest.mark.parametrize("case", ["people", "hosts"])
def test_no_known_password_comes_to_a_site_that_people_use(case: str, settings: Any) -> None:
    if case == "people":
        make.user("admin", "owner")
        User.objects.filter(username="owner").update(email="owner@shop.test")
    else:
        hosts = ("cms.shop.test",)
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"allowed_hosts": hosts})

    with pytest.raises(CommandError, match="known password"):
        call_command("seed")

    assert not User.objects.filter(email="admin@example.com").exists()


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("name", "The account owner@shop.test has the user name 'admin'."),
        ("role", "The account editor@example.com has the role translator."),
        ("case", "The account Editor@Example.com has the role admin."),
        ("off", "The account editor@example.com has been turned off."),
    ],
)
def test_names_of_existing_accounts_are_reported_and_nothing_is_created(
    case: str, told: str
) -> None:
    user = make.user("admin" if case in ("name", "case") else "editor")
    values = {
        "name": {"email": "owner@shop.test", "username": "admin"},
        "role": {"role": "translator"},
        "case": {"email": "Editor@Example.com", "username": "boss"},
        "off": {"is_active": False},
    }[case]
    User.objects.filter(pk=user.pk).update(**values)
    before = counts()

    with pytest.raises(CommandError) as refused:
        call_command("seed", anywhere=True)

    assert str(refused.value).startswith(told)
    assert "Nothing was created." in str(refused.value)
    assert counts() == before
