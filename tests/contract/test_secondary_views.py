"""Objects hidden in a list are hidden everywhere: histories, logs, searches, exports, choosers, late answers."""

from __future__ import annotations

import pytest

from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import create_run
from content.models import Post
from content.posts.trash import delete_post
from media.models import Asset
from proofroom.accounts.models import User
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import NOBODY

pytestmark = pytest.mark.django_db


def in_the_trash() -> Post:
    post = make.post("Hidden words", slug="hidden-words")
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"excerpt": "Hidden words, again"})
    make.staged(post, {"metaTitle": "Hidden words, staged"})
    return delete_post(post_id=post.pk, actor=make.actor("admin"))


@pytest.mark.parametrize("role", [None, "translator", "editor", "admin"], ids=str)
def test_threat_02_the_history_of_what_is_gone_is_gone_for_everybody(role: str | None) -> None:
    post = in_the_trash()
    revision = post.revisions.first()
    assert revision is not None
    client = ApiClient(role)

    for end in (
        "",
        "/changes",
        "/revisions",
        f"/revisions/{revision.pk}",
        f"/revisions/compare?from={revision.pk}&to={revision.pk}",
        "/provenance",
        "/export",
        "/modules",
        "/translations",
        "/variations",
        "/preview-links",
    ):
        here = client.get(f"/api/posts/{post.pk}{end}")
        nowhere = client.get(f"/api/posts/{NOBODY}{end}")

        assert here.status_code == nowhere.status_code, end
        assert here.status_code in ((401,) if role is None else (404, 403)), end
        assert here.content.replace(str(post.pk).encode(), NOBODY.encode()) == nowhere.content, end


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("translator", 403)], ids=str)
def test_threat_02_the_log_of_runs_is_for_those_who_see_agents(
    role: str | None, status: int
) -> None:
    run = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )

    for path in (
        "/api/agent-runs",
        f"/api/agent-runs/{run.pk}",
        f"/api/agent-runs?postId={NOBODY}",
    ):
        response = ApiClient(role).get(path)

        assert response.status_code == status
        assert b"seo-specialist" not in response.content


def test_threat_07_what_the_public_list_shows_is_what_can_be_read_found_and_counted() -> None:
    shown = make.post("Coffee for everybody", slug="shown")
    hidden = [
        make.post("Coffee as a draft", slug="draft", status="draft"),
        make.post("Coffee archived", slug="archived"),
        make.post("Coffee in the trash", slug="trash"),
    ]
    ApiClient("editor").write("PUT", f"/api/posts/{hidden[1].pk}", {"status": "archived"})
    delete_post(post_id=hidden[2].pk, actor=make.actor("admin"))
    visitor = ApiClient()

    for path in (
        "/api/public/posts",
        "/api/public/posts?allLocales=true",
        "/api/public/posts?search=coffee",
    ):
        answer = visitor.read(path)
        assert [row["id"] for row in answer["data"]] == [str(shown.pk)], path
        assert answer["meta"]["total"] == 1, path
    assert visitor.read(f"/api/public/posts/{shown.pk}")["id"] == str(shown.pk)
    for post in hidden:
        assert visitor.read("/api/public/posts?slug=" + post.slug)["meta"]["total"] == 0
        visitor.read(f"/api/public/posts/{post.pk}", expect=404)
        visitor.read(f"/api/public/resolve?path=/blog/{post.slug}", expect=404)


def test_threat_07_what_people_list_is_what_they_can_read_find_and_export() -> None:
    kept = [make.post("Coffee", slug="a"), make.post("Coffee, drafted", slug="b", status="draft")]
    gone = in_the_trash()
    translator = ApiClient("translator")

    for path in ("/api/posts?allLocales=true", "/api/posts?search=coffee"):
        answer = translator.read(path)
        assert {row["id"] for row in answer["data"]} == {str(post.pk) for post in kept}
        assert answer["meta"]["total"] == 2
    assert translator.read("/api/posts?search=hidden")["meta"]["total"] == 0
    for post in kept:
        translator.read(f"/api/posts/{post.pk}")
        translator.read(f"/api/posts/{post.pk}/export")
    translator.read(f"/api/posts/{gone.pk}/export", expect=404)


def test_threat_08_who_may_not_see_media_is_offered_none() -> None:
    asset = Asset.objects.create(
        filename="a-private-name.png", file="x/y.png", size=1, mime="image/png"
    )
    post = make.post()
    nobody = ApiClient("editor")
    assert b"a-private-name" in nobody.get("/admin/media/asset/").content
    # An account with a role that grants nothing; its session is bound to the role.
    User.objects.filter(username="editor").update(role="guest")
    nobody.force_login(User.objects.get(username="editor"))

    for path in (
        "/admin/media/asset/",
        f"/admin/media/asset/{asset.pk}/change/",
        f"/admin/content/post/{post.pk}/change/",
        f"/admin/content/post/{post.pk}/review/",
        "/admin/autocomplete/?app_label=media&model_name=asset&field_name=id",
        "/api/media",
        f"/api/media/{asset.pk}",
        f"/api/posts/{post.pk}",
    ):
        response = nobody.get(path, follow=True)

        assert b"a-private-name" not in response.content, path
        assert response.status_code in (200, 403, 404), path


@pytest.mark.parametrize("ends", ["demoted", "switched off"])
def test_threat_15_an_answer_that_was_waited_for_asks_for_the_right_again(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )
    editor = ApiClient("editor")

    def meanwhile(_: float) -> None:
        change = {"role": "translator"} if ends == "demoted" else {"is_active": False}
        User.objects.filter(username="editor").update(**change)
        AgentRun.objects.filter(pk=run.pk).update(status=RunStatus.SUCCEEDED, summary="For editors")

    monkeypatch.setattr("agents_app.runs.lifecycle.is_listening", lambda: False)
    monkeypatch.setattr("agents_app.runs.lifecycle.time.sleep", meanwhile)

    response = editor.get(f"/api/agent-runs/{run.pk}?wait=5")

    assert response.status_code == 403
    assert b"For editors" not in response.content
