"""Editorial steps in the admin: the page of a post, the panel of the editor, and the inbox."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from agents_app.models import AgentRun
from content.layers.schedule import schedule_approval
from content.models import Post
from proofroom.definitions import Step
from proofroom_apps.steps.models import Absence, StepRound
from proofroom_apps.steps.services import set_absence
from tests import make
from tests.admin.pages import fields
from tests.admin.test_review import decide
from tests.queries import page_queries
from tests.releases import scenes
from tests.steps.taking import HEAD, LEGAL, move, passed, set_steps, staged, states

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("admin", "editor", "translator"):
        make.user(role)
    set_steps(monkeypatch, LEGAL, HEAD)


def client(role: str) -> Client:
    found = Client()
    found.force_login(make.user(role))
    return found


def address(post: Post) -> str:
    return f"/admin/content/post/{post.pk}/steps/"


def page(post: Post, role: str = "editor") -> str:
    response = client(role).get(address(post))
    assert response.status_code == 200
    return response.content.decode()


def send(post: Post, role: str = "editor", *, status: int = 302, **values: str) -> str:
    response = client(role).post(address(post), values)
    assert response.status_code == status
    return response.content.decode()


def draft() -> Post:
    return make.post("Coffee", status="draft")


def test_the_page_shows_the_steps_and_starts_them():
    post = draft()

    text = page(post)
    assert "Role: Translator" in text
    assert "Start the steps" in text
    send(post, do="advance")

    text = page(post)
    assert 'aria-current="step"' in text
    assert "started the steps" in text
    assert "Agree to" not in text


def test_published_posts_without_changes_offer_no_start(monkeypatch):
    set_steps(monkeypatch)
    post = make.post()
    set_steps(monkeypatch, LEGAL)

    assert "Start the steps" not in page(post)
    staged(post, title="New")
    assert "Start the steps" in page(post)


def test_people_who_are_asked_agree_and_others_see_no_button():
    post = draft()
    move(post)

    assert "Agree to “Legal”" in page(post, "translator")
    send(post, "translator", do="advance", step="Legal")

    assert states(post) == ["done", "open"]
    assert "agreed to “Legal”" in page(post)
    assert "Agree to" not in page(post, "translator")


def test_content_is_sent_back_with_a_note():
    post = draft()
    move(post)
    move(post, role="translator")

    assert "Say what has to change." in send(post, status=422, do="return", to="Legal")
    send(post, do="return", to="Legal", note="<b>The imprint</b> is wrong")

    assert states(post) == ["open", "waiting"]
    assert "&lt;b&gt;The imprint&lt;/b&gt; is wrong" in page(post)


def test_a_form_of_an_earlier_step_is_refused():
    post = draft()
    move(post)
    move(post, role="translator")

    text = send(post, status=422, do="advance", step="Legal")

    assert "is no longer open" in text
    assert states(post) == ["done", "open"]


def test_a_form_with_earlier_content_is_refused_and_changes_are_named():
    post = draft()
    move(post)
    translator = client("translator")
    form = fields(translator.get(address(post)), having="content_digest")
    make.edited(post, {"title": "Sneaked in"})

    response = translator.post(address(post), {**form, "do": "advance"})

    assert response.status_code == 422
    assert "The content was changed since you read it." in response.content.decode()
    assert states(post) == ["open", "waiting"]
    move(post, role="translator")
    assert "The content has changed since." not in page(post)
    make.edited(post, {"title": "Another"})
    assert "The content has changed since." in page(post)


def test_people_who_are_not_asked_get_a_403():
    post = draft()
    move(post)

    send(post, "editor", status=403, do="advance")

    assert states(post) == ["open", "waiting"]


def test_the_page_shows_the_label_of_a_role_of_the_site(monkeypatch):
    make.site_role("legal_team", "posts.view", label="Legal team")
    set_steps(monkeypatch, Step("Legal", role="legal_team"))

    assert "Role: Legal team" in page(draft())


def test_the_page_says_if_nobody_can_agree(monkeypatch):
    make.site_role("legal", "posts.view")
    set_steps(monkeypatch, Step("Legal", role="legal"))
    post = draft()
    move(post)

    text = page(post)
    assert "Nobody with the role “legal” can see this post." in text
    assert "People who may approve and publish can agree in their place, and say why." in text
    assert "You decide for legal. Say why." in text
    make.user("legal")
    assert "Nobody with the role" not in page(post)
    assert "Agree to" not in page(post)


def test_the_page_runs_an_agent_again(monkeypatch):
    set_steps(monkeypatch, Step("SEO", agent="seo-specialist"))
    post = draft()
    move(post)
    assert "Run the agent again" not in page(post)
    StepRound.objects.update(problem="The run was cancelled.")

    text = page(post)
    assert "The run was cancelled." in text
    assert "Run the agent again" in text
    send(post, do="run-again", step="SEO")

    assert AgentRun.objects.count() == 2
    assert "The run was cancelled." not in page(post)


def test_a_step_says_that_its_people_agreed_to_other_content():
    post = draft()
    move(post)
    move(post, role="translator")
    before = page(post).count("The content has changed since.")
    make.edited(post, {"title": "Tea"})

    # Beside the step, and beside the decision.
    assert (before, page(post).count("The content has changed since.")) == (0, 2)


def numbers(role: str) -> tuple[str, str, bool]:
    """Return the count of the navigation and of the first tab of the inbox, and whether Home has a tile."""
    inbox = client(role).get("/admin/inbox/").content.decode()
    home = client(role).get("/admin/").content.decode()
    [link] = re.findall(
        r'<a[^>]* href="/admin/inbox/"[^>]*>(.*?)</a>', home.split("tiles")[0], re.S
    )
    shown = re.findall(r"<span[^>]*>(\d+)", link)
    [tab] = re.findall(r"All <span[^>]*>(\d+)</span>", inbox)
    return "".join(shown), tab, "<span>Steps that ask you</span>" in home


def test_steps_count_in_the_inbox_in_the_navigation_and_on_home():
    post = draft()
    move(post)

    assert numbers("translator") == ("1", "1", True)
    assert numbers("editor") == ("", "0", False)
    now = timezone.now()
    set_absence(
        actor=make.actor("translator"),
        deputy="editor",
        begins_at=now,
        ends_at=now + timedelta(days=1),
    )
    assert numbers("editor") == ("1", "1", True)
    text = page(post)
    assert "translator is away; editor decides for translator." in text


def test_counts_take_the_same_queries_for_any_number_of_steps(monkeypatch):
    translator = client("translator")

    def count() -> list[int]:
        return [page_queries(translator, url) for url in ("/admin/", "/admin/inbox/")]

    move(draft())
    count()  # Fills the caches.
    few = count()
    for title in ("Tea", "Milk", "Juice"):
        move(make.post(title, status="draft"))
    many = count()
    set_steps(monkeypatch)
    none = count()

    assert many == few
    # Whose deputy the reader is, for the navigation and Home; in the inbox also for its counts and its section.
    assert [one - other for one, other in zip(few, none, strict=True)] == [2, 5]


def test_the_editor_shows_the_steps_of_its_post(monkeypatch):
    post = draft()
    move(post)
    editor = client("editor")
    url = f"/admin/content/post/{post.pk}/change/"

    text = editor.get(url).content.decode()
    assert 'id="steps-panel"' in text
    assert f'href="{address(post)}"' in text

    set_steps(monkeypatch)
    assert "steps-panel" not in editor.get(url).content.decode()
    assert address(post) not in editor.get(url).content.decode()


def test_the_inbox_lists_the_steps_that_ask_the_reader():
    post = draft()
    move(post)

    asked, other = (
        client(role).get("/admin/inbox/").content.decode() for role in ("translator", "editor")
    )

    assert f'href="{address(post)}"' in asked
    assert "Steps that ask you" in asked
    assert "Steps that ask you" not in other


def test_the_inbox_needs_no_query_without_steps(monkeypatch, django_assert_num_queries):
    from django.test import RequestFactory

    from proofroom_apps.editorial.inbox.sections import show_sections

    set_steps(monkeypatch)
    request = RequestFactory().get("/admin/inbox/")
    request.user = make.user("editor")

    with django_assert_num_queries(0):
        assert show_sections(request) == []


def test_the_review_names_the_open_step(monkeypatch):
    set_steps(monkeypatch)
    post = make.post()
    set_steps(monkeypatch, Step("Legal", role="translator"))
    staged(post, title="New")
    move(post)

    url = f"/admin/content/post/{post.pk}/review/?layer=review"
    assert "The step “Legal” is open." in client("editor").get(url).content.decode()
    move(post, role="translator")
    assert "The step “Legal”" not in client("editor").get(url).content.decode()


def listed(role: str = "editor", query: str = "") -> str:
    response = client(role).get(f"/admin/content/post/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_and_filters_the_open_step(monkeypatch):
    post, other = draft(), make.post("Tea", status="draft")
    move(post)
    move(other)
    move(other, role="translator")

    text = listed()
    assert f'<a class="badge" href="{address(post)}">Legal</a>' in text
    assert f'<a class="badge" href="{address(other)}">Head</a>' in text
    text = listed(query="?step=Legal")
    assert "Coffee" in text
    assert "Tea" not in text
    set_steps(monkeypatch)
    assert address(post) not in listed()


def test_the_list_reads_open_steps_in_one_query(monkeypatch, django_assert_num_queries):
    from proofroom_apps.editorial.posts.extensions import PostBadge, list_badges

    post = draft()
    move(post)

    with django_assert_num_queries(1):
        found = list_badges({post.pk: "blog"})
    assert found == {post.pk: PostBadge("Legal", address(post))}
    set_steps(monkeypatch)
    with django_assert_num_queries(0):
        assert list_badges({post.pk: "blog"}) == {}


def test_people_name_and_remove_a_deputy():
    translator = client("translator")
    today = timezone.localdate()
    values = {
        "deputy": "editor",
        "begins_at": today.isoformat(),
        "ends_at": (today + timedelta(days=2)).isoformat(),
    }

    assert translator.post("/admin/account/absence/", values).status_code == 302

    row = Absence.objects.get()
    assert (row.user.username, row.deputy.username) == ("translator", "editor")
    assert row.ends_at - row.begins_at == timedelta(days=3)
    text = translator.get("/admin/account/absence/").content.decode()
    assert f'value="{values["ends_at"]}"' in text
    post = draft()
    move(post)
    assert "You decide for translator, who is away." in page(post)
    editor, url = client("editor"), "/admin/account/absence/"
    last = date_format(today + timedelta(days=2), "DATE_FORMAT")
    own = f"translator: {date_format(today, 'DATE_FORMAT')} to {last}"
    assert own in editor.get(url).content.decode()
    assert f'href="{url}"' in editor.get("/admin/").content.decode()
    text = editor.post(url, {**values, "deputy": "admin"}, follow=True).content.decode()
    assert "You are the deputy of translator in this time." in text
    translator.post("/admin/account/absence/", {"do": "end"})
    assert not Absence.objects.filter(user__username="translator").exists()


def test_an_absence_that_ends_before_it_begins_is_refused():
    today = timezone.localdate()
    values = {
        "deputy": "editor",
        "begins_at": today.isoformat(),
        "ends_at": (today - timedelta(days=2)).isoformat(),
    }

    response = client("translator").post("/admin/account/absence/", values)

    assert response.status_code == 422
    assert "The end must be in the future" in response.content.decode()
    assert not Absence.objects.exists()


def test_the_editor_names_the_step_that_prevents_the_publication():
    post = draft()
    move(post)
    page_of_post = f"/admin/content/post/{post.pk}/change/"
    editor = client("editor")

    form = fields(editor.get(page_of_post))
    response = editor.post(page_of_post, {**form, "do": "publish"})

    assert response.status_code == 422
    assert "The step “Legal” is open." in response.content.decode()
    assert Post.objects.get(pk=post.pk).status == "draft"


def test_the_editor_says_that_a_draft_misses_its_date():
    post = draft()
    passed(post)
    make.edited(post, {"publishAt": "2099-01-01T08:00:00.000Z"})
    url = f"/admin/content/post/{post.pk}/change/"
    text = "If they are not done by its date, it stays a draft."
    editor = client("editor")

    assert text not in editor.get(url).content.decode()
    make.edited(post, {"title": "Tea"})
    assert text in editor.get(url).content.decode()


def test_the_editor_of_a_published_post_saves_to_review_only_and_starts_the_steps(monkeypatch):
    set_steps(monkeypatch)
    post, other = make.post("Coffee"), make.post("Milk")
    set_steps(monkeypatch, LEGAL)
    page_of_post = f"/admin/content/post/{post.pk}/change/"
    editor = client("editor")

    form = fields(editor.get(page_of_post))
    text_field = next(name for name in form if name.endswith("title"))
    sent = {**form, text_field: "Tea"}
    refused = editor.post(page_of_post, {**sent, "do": "save"})
    editor.post(page_of_post, {**sent, "do": "save-review"})

    assert refused.status_code == 422
    assert "go through the step “Legal” first" in refused.content.decode()
    assert Post.objects.get(pk=post.pk).title == "Coffee"
    assert make.layers(post).review.document.fields["title"] == "Tea"
    assert "Saves your changes to Review and starts the steps." in refused.content.decode()
    assert StepRound.objects.get(post=post).step == "Legal"
    # More changes leave the open step open. Other ways to Review start none.
    form = fields(editor.get(page_of_post))
    editor.post(page_of_post, {**form, text_field: "Cocoa", "do": "save-review"})
    staged(other, title="Cream")
    assert [row.decisions.count() for row in StepRound.objects.all()] == [1]


def test_the_review_and_the_release_say_in_advance_that_a_step_is_open(monkeypatch):
    set_steps(monkeypatch)
    post = make.post("Coffee")
    set_steps(monkeypatch, LEGAL, HEAD)
    staged(post, title="Tea")
    passed(post)
    schedule_approval(
        post_id=post.pk,
        actor=make.actor("editor"),
        digest=scenes.digest_of(post),
        at=timezone.now() + timedelta(days=1),
    )
    release = scenes.create()
    scenes.add(release, "post", make.post("Milk", status="draft").pk)
    review = f"/admin/content/post/{post.pk}/review/?layer=review"
    page_of_release = reverse("admin:proofroom_releases_release_change", args=[release[14:]])
    editor = client("editor")

    assert "These changes will not go live:" not in editor.get(review).content.decode()
    move(post, "return", step="Legal", note="Not yet")

    text = editor.get(review).content.decode()
    assert "1 schedule of these changes cannot be met." in text
    assert "These changes will not go live: The step “Legal” is open." in text
    text = editor.get(page_of_release).content.decode()
    assert "The step “Legal” was not started. All steps must be done first." in text


def test_the_review_starts_the_steps_and_asks_who_must_agree(monkeypatch):
    set_steps(monkeypatch)
    post = make.post("Coffee")
    set_steps(monkeypatch, LEGAL)
    staged(post, title="Tea")
    review = f"/admin/content/post/{post.pk}/review/?layer=review"
    editor, translator = client("editor"), client("translator")

    text = editor.get(review).content.decode()
    assert "Agree to “Legal”" not in text
    assert 'value="approve"' not in text  # it would refuse
    assert 'value="reject"' in text
    form = fields(editor.get(review), having="content_digest")
    editor.post(address(post), {**form, "do": "advance"})

    assert "Agree to “Legal”" not in editor.get(review).content.decode()
    form = fields(translator.get(review), having="content_digest")
    translator.post(address(post), {**form, "do": "advance"})
    assert states(post) == ["done"]


def test_the_review_names_the_step_when_it_refuses(monkeypatch):
    set_steps(monkeypatch)
    post = make.post("Coffee")
    set_steps(monkeypatch, LEGAL)
    staged(post, title="Tea")
    response = decide(client("editor"), post, "review", "approve", **{"post.title": "accept"})

    assert response.status_code == 422
    assert "The step “Legal” was not started." in response.content.decode()
    assert Post.objects.get(pk=post.pk).title == "Coffee"


def test_the_page_leads_to_the_run_of_an_agent_and_to_the_invitation_of_a_guest(monkeypatch):
    set_steps(monkeypatch, Step("SEO", agent="seo-specialist"), Step("Customer", guest="Ms Meyer"))
    post = draft()
    staged(post, title="Better")
    move(post)

    run = AgentRun.objects.get()
    assert f"/agents_app/agentrun/{run.pk}/" in page(post)
    assert "Invite Ms Meyer" not in page(post)
    move(post)
    assert "Invite Ms Meyer" in page(post)
    assert f'href="/admin/content/post/{post.pk}/reviewers/?layer=review"' in page(post)
    assert "Invite Ms Meyer" not in page(post, "translator")
