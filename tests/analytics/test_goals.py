"""A submitted form counts as a conversion of its page: once, and only for counted visitors."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from analytics.models import AnalyticsEvent
from content.models import Post, PostModule
from content.posts.variations import create_variation
from forms.models import FormSubmission
from tests import make
from tests.api_client import ApiClient
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import home, page

pytestmark = pytest.mark.django_db
BODY = {"email": "ada@example.com", "message": "Hello"}
SUBMIT = "/api/forms/contact/submit"


@pytest.fixture
def contact() -> tuple[Post, str]:
    """Return the page `/contact`, and the id of its module with the form `contact`."""
    if not Post.objects.filter(slug="home").exists():
        home()
    make.form()
    post = page("Contact")
    return post, with_modules(post, [("form", {"form": "contact"})])[0]


def send(
    at: str, path: str = "/contact", headers: dict[str, str] | None = None, **more: Any
) -> Any:
    return Client(headers=headers or {}).post(
        "/forms/contact", {**BODY, "_page": path, "_at": at, **more}
    )


def module_of(post: Post) -> str:
    return str(PostModule.objects.get(post=post).pk)


def reached() -> list[tuple[Any, ...]]:
    columns = ("event_type", "post_id", "goal", "locale", "version", "variation_of", "x", "y")
    return list(AnalyticsEvent.objects.order_by("id").values_list(*columns))


def test_a_form_of_a_page_counts_for_its_post(contact: tuple[Post, str]) -> None:
    post, at = contact
    version = Post.objects.get(pk=post.pk).version

    assert send(at).status_code == 303

    assert reached() == [("click", post.pk, "form:contact", "en", version, None, None, None)]
    assert AnalyticsEvent.objects.get().metadata == {}


def test_a_form_by_itself_counts_for_the_site(contact: tuple[Post, str]) -> None:
    assert send("form", path="").status_code == 303

    assert reached() == [("click", None, "form:contact", "", None, None, None, None)]


def test_a_form_of_a_variation_counts_for_that_arm(contact: tuple[Post, str]) -> None:
    post, at = contact
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor("admin"))
    Post.objects.filter(pk=variation.pk).update(variation_running=True)
    of_variation = module_of(variation)

    answers = [send(at), send(of_variation), send(of_variation, email="no address")]

    assert [answer.status_code for answer in answers] == [303, 303, 422]
    assert answers[1]["Location"] == f"/contact?sent={of_variation}#form-{of_variation}"
    assert f'value="{of_variation}"' in answers[2].content.decode()
    assert [(row[1], row[5]) for row in reached()] == [
        (post.pk, post.pk),
        (variation.pk, post.pk),
    ]


def test_a_form_of_a_page_that_is_for_looking_at_counts_for_nothing(
    contact: tuple[Post, str],
) -> None:
    post, at = contact
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor("admin"))
    Post.objects.filter(pk=variation.pk).update(variation_running=True)
    mark = '<input type="hidden" name="_uncounted" value="1">'

    pages = [Client().get(f"/contact{query}").content.decode() for query in ("?variation=A", "")]
    refused, taken = (send(at, _uncounted="1", **more) for more in ({"email": "wrong"}, {}))

    assert [mark in html for html in (*pages, refused.content.decode())] == [True, False, True]
    assert "cms/track.js" not in refused.content.decode()
    assert (taken.status_code, FormSubmission.objects.count()) == (303, 1)
    assert reached() == []


def test_the_answer_to_a_form_is_no_view_of_its_own(contact: tuple[Post, str]) -> None:
    at = contact[1]
    addresses = [f"/contact?sent={at}", "/forms/contact?sent=form", "/contact", "/contact?sent=x"]

    pages = [Client().get(address) for address in addresses]
    refused = send(at, email="wrong")

    assert [b" data-again></script>" in page.content for page in (*pages, refused)] == [
        True, True, False, False, True,
    ]  # fmt: skip


def test_a_form_sent_on_the_original_is_confirmed_there(contact: tuple[Post, str]) -> None:
    post, at = contact
    variation = create_variation(
        post_id=post.pk, variation="B", actor=make.actor("admin"), weight=100
    )
    Post.objects.filter(pk=variation.pk).update(variation_running=True)

    thanks = Client().get(send(at)["Location"])

    assert f'id="form-{at}" role="status"' in thanks.content.decode()
    assert f'data-post-id="{variation.pk}"' in Client().get("/contact").content.decode()


def test_a_form_of_a_stopped_variation_does_not_belong_to_the_page(
    contact: tuple[Post, str],
) -> None:
    post, _ = contact
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor("admin"))

    answer = send(module_of(variation))

    assert answer["Location"] == "/forms/contact?sent=form#form-form"
    assert [row[1] for row in reached()] == [None]


@pytest.mark.parametrize(
    "more",
    [{"email": "no address"}, {"homepage_url": "https://spam.example"}],
    ids=["refused", "honeypot"],
)
def test_what_is_not_taken_is_no_conversion(contact: tuple[Post, str], more: Any) -> None:
    send(contact[1], **more)
    ApiClient().send("POST", f"{SUBMIT}?postId={contact[0].pk}", {**BODY, **more})

    assert reached() == []
    assert not FormSubmission.objects.exists()


@pytest.mark.parametrize(
    "headers",
    [{"DNT": "1"}, {"Sec-GPC": "1"}, {"User-Agent": "curl/8.5.0"}, {"Cookie": "cms_staff=1"}],
    ids=["dnt", "gpc", "program", "staff"],
)
def test_who_is_not_counted_is_served_all_the_same(
    contact: tuple[Post, str], headers: dict[str, str]
) -> None:
    by_page = send(contact[1], headers=headers)
    extra = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    by_api = ApiClient().send("POST", f"{SUBMIT}?postId={contact[0].pk}", BODY, **extra)

    assert (by_page.status_code, by_api.status_code) == (303, 201)
    assert FormSubmission.objects.count() == 2
    assert reached() == []


def test_nothing_is_counted_where_pages_count_nothing(
    contact: tuple[Post, str], settings: Any
) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_tracking": False})

    assert send(contact[1], _agreed="1").status_code == 303

    assert reached() == []


def test_where_visitors_are_asked_only_who_agreed_is_counted(
    contact: tuple[Post, str], settings: Any
) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_consent": True})

    statuses = [send(contact[1], **more).status_code for more in ({}, {"_agreed": "1"})]

    assert statuses == [303, 303]
    assert [row[2] for row in reached()] == ["form:contact"]


def test_a_frontend_names_the_post_in_the_address(contact: tuple[Post, str]) -> None:
    post, _ = contact
    draft = make.post("Draft", slug="draft", status="draft")
    places = [f"?postId={post.pk}", f"?postId={draft.pk}", f"?postId={uuid4()}", ""]

    statuses = [ApiClient().send("POST", SUBMIT + at, BODY).status_code for at in places]

    assert statuses == [201] * 4
    assert [(row[1], row[2]) for row in reached()] == [(post.pk, "form:contact")]


@pytest.mark.parametrize("post_id", ["", "7", "x" * 5000, "%00", "../"])
def test_an_address_that_names_no_id_is_422_and_nothing_is_taken(
    contact: tuple[Post, str], post_id: str
) -> None:
    response = ApiClient().send("POST", f"{SUBMIT}?postId={post_id}", BODY)

    assert response.status_code == 422
    assert list(response.json()["details"]) == ["postId"]
    assert not FormSubmission.objects.exists()
    assert reached() == []


def test_a_form_is_taken_though_it_cannot_be_counted(
    contact: tuple[Post, str], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def broken(**_: Any) -> int:
        raise RuntimeError("no room")

    monkeypatch.setattr("analytics.goals.record_events", broken)

    assert send(contact[1]).status_code == 303

    assert FormSubmission.objects.count() == 1
    assert "cannot count goal form:contact" in caplog.text
