"""Published posts that are read before Django sees the request: as its delivery API answers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from django.core.cache import cache

from content.api.front_delivery import DeliveryReader
from content.models import Post
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.front_cache import learnt_lines
from proofroom.core.caching.hit_batches import hit_batches
from tests import make
from tests.front import Answered, Front

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/api/public/posts"
# The last second of a version can still be changed, so that it is not told.
OF_ONE_CALL = {"x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "last-modified"}


@pytest.fixture(autouse=True)
def nothing_is_known() -> Iterator[None]:
    cache.clear()
    hit_batches.clear()
    learnt_lines.clear()
    yield
    learnt_lines.clear()
    hit_batches.clear()


def shared(answer: Answered) -> tuple[int, dict[str, str], bytes]:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    kept = {name: value for name, value in headers.items() if name not in OF_ONE_CALL}
    assert headers.keys() - kept.keys() == OF_ONE_CALL
    return answer.status, kept, answer.content


@pytest.mark.parametrize("encoding", ["", "br"])
@pytest.mark.parametrize(
    "address",
    [
        "{one}", "{one}?n=1", "{one}?fields=title,media", "{one}?fields=title%2Cid", "{one}?variation=B",
        LIST, f"{LIST}?n=1", f"{LIST}?per_page=1&page=2", f"{LIST}?type=blog&ordering=title",
        f"{LIST}?search=water", f"{LIST}?allLocales=true&fields=title,media",
    ],
)  # fmt: skip
def test_it_is_what_django_answers(address: str, encoding: str) -> None:
    post = make.post()
    make.post("Tea", slug="tea")
    front, more = Front(), {"HTTP_ACCEPT_ENCODING": encoding}
    address = address.format(one=f"{LIST}/{post.pk}")

    of_django = front.get(address, **more)
    answers.clear()
    answer = front.get(address, **more)

    assert (of_django.status, of_django.is_read, answer.is_read) == (200, False, True)
    assert shared(answer) == shared(of_django)
    assert front.get(address, **more).is_kept


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"{LIST}/nothing", 404), (f"{LIST}/00000000-0000-4000-8000-000000000000", 404),
        (f"{LIST}?page=0", 422), (f"{LIST}?locale=xx", 422), (f"{LIST}?ordering=secret", 422),
        (f"{LIST}?fields=layers", 422), ("{one}?fields=layers", 422), ("{one}?variation=%00", 422),
    ],
)  # fmt: skip
def test_what_does_not_fit_django_refuses(
    address: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    post, front = make.post(), Front()
    front.get(LIST)

    answer = front.get(address.format(one=f"{LIST}/{post.pk}"))

    assert (answer.status, answer.is_read) == (status, False)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert "error" in answer.json()


def test_nothing_that_is_not_live_is_ever_read() -> None:
    post, front = make.post(), Front()
    front.get(LIST)
    make.staged(post, {"title": "Canary waits"})
    draft = make.post("Canary draft", slug="canary", status="draft")

    listed = front.get(f"{LIST}?allLocales=true")
    one = front.get(f"{LIST}/{post.pk}?n=1")
    hidden = front.get(f"{LIST}/{draft.pk}")

    assert (listed.is_read, one.is_read) == (True, True)
    assert (hidden.status, hidden.is_read) == (404, False)
    assert "Canary" not in listed.text + one.text + hidden.text


def test_every_call_counts_once_wherever_it_is_answered(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "6/hour"}
    post, front = make.post(), Front()

    doors = [LIST, f"{LIST}?n=1", f"{LIST}/{post.pk}", f"{LIST}?n=2", f"{LIST}?n=2"]
    left = [int(front.get(door).headers["X-RateLimit-Remaining"]) for door in doors]
    missing = [front.get(f"{LIST}/nothing").status for _ in range(2)]

    assert left == [5, 4, 3, 2, 1]
    assert missing == [404, 429]


def test_who_is_over_the_limit_has_nothing_read(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/hour"}
    make.post()
    front = Front()
    front.get(LIST)
    front.get(f"{LIST}?n=1")

    with patch.object(DeliveryReader, "read") as read:
        refused = front.get(f"{LIST}?n=2")

    assert refused.status == 429
    assert not read.called


def test_an_edit_is_seen_at_once() -> None:
    post, front = make.post(), Front()
    for number in range(2):
        front.get(f"{LIST}/{post.pk}?n={number}")

    make.edited(Post.objects.get(pk=post.pk), {"title": "Tea"})

    answer = front.get(f"{LIST}/{post.pk}?n=1")
    assert answer.is_read
    assert answer.json()["title"] == "Tea"
