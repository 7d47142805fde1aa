"""Facts about embeds: asked in a task, stored without HTML, shown on pages, in the API and in the editor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Post
from proofroom.core.models import Event
from proofroom_apps.embeds import oembed
from proofroom_apps.embeds.facts_fetch import fetch_due_facts
from proofroom_apps.embeds.models import EmbedFacts, FactsState
from proofroom_apps.embeds.post_events import request_facts_of_posts
from proofroom_apps.embeds.services import request_facts
from tests import make
from tests.admin.pages import url as page_of
from tests.receiver import Receiver, Reply, serving

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
VIDEO = "https://videos.example/watch/1"
TARGETS = "/admin/content/post/targets/"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """Yield a provider on this machine that answers for `videos.example`."""
    with serving() as found:
        settings.CMS_ENV = settings.CMS_ENV.model_copy(
            update={
                "outgoing_allowed_hosts": ("127.0.0.0/8",),
                "oembed_providers": {"videos.example": found.url("/oembed")},
                "embed_hosts": ("videos.example",),
            }
        )
        yield found


def says(receiver: Receiver, **facts: Any) -> None:
    body = json.dumps({"type": "video", "version": "1.0", **facts}).encode()
    receiver.say("/oembed", Reply(200, body=body))


def post_with(address: str = VIDEO, **props: Any) -> Post:
    post = make.post(f"Film {Post.objects.count()}")
    make.added_module(post, type="embed", props={"url": address, **props})
    request_facts_of_posts(list(Event.objects.filter(post_id=post.pk)))
    return post


def fetched() -> EmbedFacts:
    assert fetch_due_facts() == 1
    return EmbedFacts.objects.get()


def test_facts_are_asked_once_and_shown_before_a_click(
    receiver: Receiver, client: Client, django_assert_num_queries: Any
) -> None:
    picture = make.picture((1600, 900), "JPEG")
    receiver.say("/picture", Reply(200, body=picture))
    says(
        receiver,
        title="First <b>crack</b>\nnow",
        author_name="Ada",
        width=640,
        height="480",
        thumbnail_url=receiver.url("/picture"),
        html="<script>alert(1)</script>",
    )
    post = post_with()
    before = client.get(f"/api/public/posts/{post.pk}").json()
    assert "embeds" not in before
    later = post_with(f"{VIDEO}#t=3")
    assert fetch_due_facts() == 1
    assert fetch_due_facts() == 0
    told = Event.objects.get(name="embed.changed").payload["posts"]
    assert set(told) == {str(post.pk), str(later.pk)}
    request_facts([VIDEO, f"{VIDEO}#t=3", "https://other.example/", "x"])

    row = EmbedFacts.objects.get()
    assert (row.state, row.title, row.author) == ("ready", "First <b>crack</b> now", "Ada")
    assert (row.width, row.height, row.thumbnail_width) == (640, 480, 960)
    assert bytes(row.thumbnail)[8:12] == b"WEBP"
    [seen] = receiver.at("/oembed")
    assert "url=https%3A%2F%2Fvideos.example%2Fwatch%2F1&format=json" in seen.path
    assert "cookie" not in seen.headers

    thumbnail = f"/embeds/{row.pk}/{row.thumbnail_digest}.webp"
    answer = client.get(f"/api/public/posts/{post.pk}").json()
    assert answer["embeds"] == {
        VIDEO: {
            "provider": "videos.example",
            "title": "First <b>crack</b> now",
            "author": "Ada",
            "width": 640,
            "height": 480,
            "thumbnail": {"url": thumbnail, "width": 960, "height": 540},
        }
    }
    page = client.get(post.path).content.decode()
    assert 'class="embed embed-standard"' in page
    assert 'title="First &lt;b&gt;crack&lt;/b&gt; now"' in page
    assert "By Ada on videos.example" in page
    assert f"&lt;img src=&quot;{thumbnail}&quot;" in page
    assert "Load page from videos.example" in page
    assert "alert(1)" not in page
    image = client.get(thumbnail)
    assert (image["Content-Type"], "immutable" in image["Cache-Control"]) == ("image/webp", True)
    assert client.get(thumbnail.replace(row.thumbnail_digest, "0" * 16)).status_code == 404
    # PostgreSQL cannot search for NUL.
    assert client.get(thumbnail.replace(row.thumbnail_digest, "%00")).status_code == 404


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, body=b"<!doctype html><title>Sign in</title>"),
        Reply(200, body=b'["title"]'),
        Reply(200, body=b'{"title": "' + b"x" * 200_000 + b'"}'),
        Reply(404),
        Reply(302, headers={"Location": "http://169.254.169.254/latest/meta-data/"}),
        Reply(302, headers={"Location": "file:///etc/passwd"}),
        Reply(302, headers={"Location": "/oembed"}),
        Reply(302, headers={"Location": "http://["}),
    ],
)
def test_a_hostile_answer_leaves_a_plain_card(
    receiver: Receiver, client: Client, reply: Reply
) -> None:
    receiver.say("/oembed", reply)
    post = post_with(title="My own title")

    row = fetched()

    assert (row.state, row.title, row.thumbnail, row.due_at) == ("failed", "", None, None)
    assert "169.254" not in row.problem
    assert "My own title" in client.get(post.path).content.decode()
    assert "embeds" not in client.get(f"/api/public/posts/{post.pk}").json()


def test_wrong_types_and_bad_pictures_are_left_out(receiver: Receiver) -> None:
    receiver.say("/picture", Reply(200, body=b"<svg onload=alert(1)>"))
    says(
        receiver,
        title=["x"],
        author_name={"a": 1},
        width="100%",
        height=10**9,
        thumbnail_url=receiver.url("/picture"),
    )
    request_facts([VIDEO])

    row = fetched()

    assert (row.state, row.title, row.author) == ("ready", "", "")
    assert (row.width, row.height, row.thumbnail) == (None, None, None)


def test_a_provider_that_is_down_is_asked_again_later(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oembed, "SECONDS", 0.2)
    receiver.say("/oembed", Reply(503))
    request_facts([VIDEO])

    for attempt in (1, 2, 3):
        row = fetched()
        assert (row.state, row.attempts) == ("failed", attempt)
        assert row.due_at > timezone.now() + timedelta(minutes=4)
        assert fetch_due_facts() == 0
        EmbedFacts.objects.update(due_at=timezone.now())
    assert fetched().due_at is None
    assert len(receiver.at("/oembed")) == 4


def test_the_editor_asks_on_demand_and_offers_to_try_again(
    receiver: Receiver, signed_in: SignedIn
) -> None:
    client = signed_in()
    receiver.say("/oembed", Reply(404))
    asked = {"address": VIDEO, "module": "embed"}

    def note(**more: str) -> Any:
        found = client.get(TARGETS, {**asked, **more}).json()
        return found.get("note"), found["sentence"]

    assert note() == ("new", "Asking videos.example…")
    assert not EmbedFacts.objects.exists()
    assert client.post(TARGETS, asked).json()["note"] == "pending"
    assert note()[0] == "pending"
    fetch_due_facts()
    state, sentence = note()
    assert (state, sentence.startswith("videos.example gave no details")) == ("failed", True)
    assert client.post(TARGETS, asked).json()["note"] == "pending"
    says(receiver, title="First crack", author_name="Ada")
    fetch_due_facts()
    assert note() == ("ok", "videos.example: “First crack” by Ada")
    assert note(address="https://elsewhere.example/")[0] is None
    assert note(module="hero")[0] is None
    EmbedFacts.objects.update(state=FactsState.FAILED)
    reader = make.site_role("reader", "posts.view")
    assert signed_in(reader.name).post(TARGETS, asked).status_code == 403
    assert EmbedFacts.objects.get().state == FactsState.FAILED


def test_a_pasted_address_becomes_an_embed(receiver: Receiver, signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()

    part = client.post(page_of(post, "change/pasted"), {"embed": VIDEO}).content.decode()

    assert 'name="order" value="new-1:embed"' in part
    assert f'value="{VIDEO}"' in part
    assert EmbedFacts.objects.get().url == VIDEO
    refused = client.post(page_of(post, "change/pasted"), {"embed": "javascript:alert(1)"})
    assert refused.status_code == 422
