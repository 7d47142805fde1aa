"""Addresses of other sites: found in live content, checked by the task through the guard, judged dead or alive."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from cms_project.celery import app
from content.models import CheckedAddress
from content.post_checks import external_links
from content.post_checks.audit import find_dead_links
from content.post_checks.external_links import (
    add_new_addresses,
    check_due_addresses,
    forget_unlinked_addresses,
    is_dead,
)
from content.posts.publish import set_status
from tests import make
from tests.content.checking import failures
from tests.receiver import Receiver, Reply, Trick, reach, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(external_links, "HOST_PAUSE_SECONDS", 0.0)
    with serving() as receiver:
        reach(settings)
        yield receiver


def address(url: str) -> CheckedAddress:
    return CheckedAddress.objects.get(url=url)


def check_again() -> int:
    CheckedAddress.objects.update(due_at=timezone.now())
    return check_due_addresses()


def test_the_task_of_the_scheduler_checks_the_links_of_published_posts(site):
    site.say("/there", Reply(200))
    site.say("/gone", Reply(404))
    post = make.post("Linking", markdown=f"[a]({site.url('/there')}#part) [b]({site.url('/gone')})")
    make.post("Draft", status="draft", markdown=f"[c]({site.url('/draft')})")
    app.loader.import_default_modules()  # as a worker does
    entry = django_settings.CELERY_BEAT_SCHEDULE["content.tasks.check_links"]

    assert app.tasks[entry["task"]].apply().get() == 2

    assert {row.url for row in CheckedAddress.objects.all()} == {
        site.url("/there"),
        site.url("/gone"),
    }
    assert [seen.method for seen in site.at("/there")] == ["HEAD"]
    # A server may answer HEAD with an error, so the address is only gone if GET says so too.
    assert [seen.method for seen in site.at("/gone")] == ["HEAD", "GET"]
    assert failures(post, "deadLink") == [f"{site.url('/gone')} answers with status 404."]
    assert site.at("/draft") == []


def test_a_checked_address_is_not_due_again_at_once(site):
    site.say("/there", Reply(200))
    make.post(markdown=f"[a]({site.url('/there')})")
    assert check_due_addresses() == 1

    assert check_due_addresses() == 0
    assert len(site.at("/there")) == 1
    assert address(site.url("/there")).due_at > timezone.now() + timedelta(days=6)


def test_get_decides_where_a_server_refuses_head(site):
    site.say("/page", Reply(405), Reply(200))
    make.post(markdown=f"[a]({site.url('/page')})")

    check_due_addresses()

    assert [seen.method for seen in site.at("/page")] == ["HEAD", "GET"]
    assert (address(site.url("/page")).status, address(site.url("/page")).failures) == (200, 0)


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_site_that_refuses_programs_is_not_dead(site, status):
    site.say("/page", Reply(status))
    make.post(markdown=f"[a]({site.url('/page')})")

    for _ in range(4):
        check_again() if CheckedAddress.objects.exists() else check_due_addresses()

    assert not is_dead(address(site.url("/page")))


def test_an_error_counts_after_three_checks_in_a_row(site):
    url = site.url("/page")
    site.say("/page", Reply(500))
    make.post(markdown=f"[a]({url})")

    check_due_addresses()
    assert not is_dead(address(url))
    check_again()
    assert not is_dead(address(url))
    check_again()
    assert is_dead(address(url))

    site.say("/page", Reply(200))
    check_again()
    assert (is_dead(address(url)), address(url).failures) == (False, 0)


def test_a_server_that_does_not_answer_counts_the_same(site):
    url = site.url("/page")
    site.say("/page", Reply(trick=Trick.RESET))
    post = make.post(markdown=f"[a]({url})")
    check_due_addresses()
    for _ in range(2):
        check_again()

    row = address(url)
    assert (row.status, row.failures, row.problem != "") == (None, 3, True)
    assert failures(post, "deadLink") == [f"{url} cannot be reached."]


def test_private_addresses_are_not_called_and_not_dead(settings, monkeypatch):
    with serving() as receiver:
        url = receiver.url("/secret")
        make.post(markdown=f"[a]({url})")
        check_due_addresses()

        assert receiver.requests == []
    row = address(url)
    assert (row.status, is_dead(row)) == (None, False)
    assert "OUTGOING_ALLOWED_HOSTS" in row.problem


def test_names_reserved_for_examples_are_never_called(site):
    make.post(
        markdown="[a](https://example.com/) [b](https://www.example.org/x) [c](https://shop.example)"
    )

    assert check_due_addresses() == 0
    assert (
        CheckedAddress.objects.filter(due_at__lte=timezone.now() + timedelta(days=365)).count() == 0
    )


def test_one_call_checks_few_addresses_of_a_host_and_leaves_the_others_due(site, monkeypatch):
    monkeypatch.setattr(external_links, "PER_HOST", 2)
    links = " ".join(f"[{n}]({site.url(f'/{n}')})" for n in range(5))
    make.post(markdown=links)

    assert [check_due_addresses() for _ in range(4)] == [2, 2, 1, 0]
    assert len({seen.path for seen in site.requests}) == 5


def test_addresses_that_nothing_links_to_any_more_are_forgotten(site):
    post = make.post(markdown=f"[a]({site.url('/page')})")
    add_new_addresses()
    assert forget_unlinked_addresses() == 0

    make.changed_module(post, make.module_id(post, "prose"), content_markdown="No link")

    assert forget_unlinked_addresses() == 1
    assert not CheckedAddress.objects.exists()


def test_unpublished_posts_add_no_addresses(site):
    post = make.post(markdown=f"[a]({site.url('/page')})")
    set_status(post_id=post.pk, status="draft", actor=make.actor("editor"))

    assert add_new_addresses() == 0


def test_no_page_and_no_answer_waits_for_another_site(site):
    post = make.post(markdown=f"[a]({site.url('/page')})")
    failures(post, "deadLink")
    find_dead_links(actor=make.actor("editor"))

    assert site.requests == []
