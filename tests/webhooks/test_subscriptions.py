"""Webhooks are created, changed and deleted by users, within rules; their secrets are write-only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom.core.redaction import SECRET_MASK
from proofroom.webhooks import delivery_queue, retention
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from proofroom.webhooks.models.webhook import NewWebhook, WebhookChanges
from proofroom.webhooks.queries import find_delivery
from proofroom.webhooks.services.replay import replay_delivery
from proofroom.webhooks.services.webhooks import create_webhook, delete_webhook, update_webhook
from proofroom.webhooks.signatures import Keys, keys_of
from proofroom.webhooks.tasks import prune_deliveries
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db

URL = "https://search.example/hook"

SECRET = "first-secret-of-this-webhook"

SECOND = "second-secret-of-this-webhook"


def change(row: Webhook, **values: Any) -> Webhook:
    changes = WebhookChanges.model_construct(**values)  # the service judges by itself
    return update_webhook(webhook_id=row.pk, actor=make.actor("admin"), changes=changes)


def recorded(name: str) -> list[dict[str, Any]]:
    rows = Event.objects.filter(name=name).order_by("pk")
    return [row.payload for row in rows]


def test_a_webhook_is_what_it_was_made() -> None:
    row = make.webhook(
        "  Search   index ",
        url=f" {URL}?key=1 ",
        events=["post.updated", "post.created", "post.updated"],
        types=["page", "blog"],
        locales=["de"],
        headers={"Authorization": "Bearer abc"},
        secret=SECRET,
        test=True,
    )

    row = Webhook.objects.get(pk=row.pk)
    assert (row.name, row.url) == ("Search index", f"{URL}?key=1")
    assert row.events == ["post.created", "post.updated"]
    assert (row.types, row.locales) == (["blog", "page"], ["de"])
    assert (row.headers, row.secret) == ({"Authorization": "Bearer abc"}, SECRET)
    assert (row.is_active, row.is_test, row.version) == (True, True, 1)
    assert row.made_by == make.user("admin")
    assert recorded("webhook.created") == [
        {"id": str(row.pk), "name": "Search index", "host": "search.example"}
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", " \n "),
        ("name", "x" * 101),
        ("name", "nul\x00"),
        ("name", "bell\x07"),
        ("name", "half \ud800"),
        ("url", ""),
        ("url", "ftp://search.example/"),
        ("url", "//search.example/"),
        ("url", "https://user:word@search.example/"),
        ("url", "http://127.0.0.1/"),
        ("url", "http://[::ffff:127.0.0.1]/"),
        ("url", "http://169.254.169.254/latest"),
        ("url", "https://search.example:22/"),
        ("url", "https://search.example/\r\nX: y"),
        ("url", "https://search.example/" + "x" * 2000),
        ("events", []),
        ("events", ["post.eaten"]),
        ("events", ["webhook.created"]),
        ("events", ["post.publish"]),
        ("types", ["nonsense"]),
        ("types", ["\ud800"]),
        ("locales", ["fr"]),
        ("secret", "x" * 201),
        ("secret", "line\r\nbreak-and-more"),
        ("secret", "half-a-character-\ud800"),
        ("headers", {"Host": "x"}),
        ("headers", {"content-length": "1"}),
        ("headers", {"X-Hub-Signature-256": "sha256=0"}),
        ("headers", {"x-webhook-event": "x"}),
        ("headers", {"Proxy-Authorization": "x"}),
        ("headers", {"Transfer-Encoding": "chunked"}),
        ("headers", {"X Y": "x"}),
        ("headers", {"": "x"}),
        ("headers", {"X-Ö": "x"}),
        ("headers", {"X-\ud800": "x"}),
        ("headers", {"X-A\r\nX-B": "x"}),
        ("headers", {"X-A": "a\r\nX-B: b"}),
        ("headers", {"X-A": "nul\x00"}),
        ("headers", {"X-A": "ö"}),
        ("headers", {"X-A": ""}),
        ("headers", {"X-A": "x" * 1001}),
        ("headers", {"X-A": "x", "x-a": "y"}),
        ("headers", {"X-A": SECRET_MASK}),
        ("headers", {f"X-{number}": "x" for number in range(21)}),
    ],
    ids=lambda value: str(value)[:50].encode("ascii", "backslashreplace").decode(),
)
def test_what_does_not_fit_is_refused_on_its_field(field: str, value: Any) -> None:
    row = make.webhook("Stays")
    events = Event.objects.count()
    values = {"name": "New", "url": URL, "events": ["post.updated"], field: value}

    with pytest.raises(RuleViolation) as made:
        create_webhook(actor=make.actor("admin"), webhook=NewWebhook.model_construct(**values))
    with pytest.raises(RuleViolation) as changed:
        change(row, **{field: value})

    assert list(made.value.details) == list(changed.value.details) == [field]
    made.value.message.encode()
    assert [row.name for row in Webhook.objects.all()] == ["Stays"]
    assert Event.objects.count() == events


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(RuleViolation) as refused:
        make.webhook(events=["post.eaten"])

    assert refused.value.message == (
        "'post.eaten' is not valid in events. Available: form.submitted, content.changed, post.created, "
        "post.deleted, post.published, post.restored, post.updated."
    )


@pytest.mark.parametrize("who", ["editor", "translator", "ai_agent"])
def test_only_who_manages_webhooks_changes_them(who: str) -> None:
    row = make.webhook()
    actor = make.actor(who)

    for act in _acts(row):
        with pytest.raises(NotAllowed):
            act(actor)

    assert Webhook.objects.get().version == 1


def test_ai_clients_change_no_pattern_with_any_role() -> None:
    row = make.webhook()

    for act in _acts(row):
        with pytest.raises(NotAllowed) as refused:
            act(make.mcp_actor("admin"))
        assert refused.value.code == "person_required"

    assert Webhook.objects.get().version == 1


def _acts(row: Webhook) -> list[Callable[[Any], object]]:
    return [
        lambda actor: create_webhook(
            actor=actor, webhook=NewWebhook(name="x", url=URL, events=["post.updated"])
        ),
        lambda actor: update_webhook(
            actor=actor, webhook_id=row.pk, changes=WebhookChanges(name="x")
        ),
        lambda actor: delete_webhook(actor=actor, webhook_id=row.pk),
    ]


def test_a_stale_version_changes_nothing() -> None:
    row = make.webhook()
    change(row, name="First", version=1)

    with pytest.raises(Conflict) as refused:
        change(row, name="Second", version=1)

    assert (refused.value.code, refused.value.current) == ("stale_version", 2)
    assert Webhook.objects.get().name == "First"


def test_switching_on_again_gives_it_another_day() -> None:
    row = make.webhook()
    Webhook.objects.update(
        is_active=False,
        failing_since=timezone.now() - timedelta(days=2),
        disabled_at=timezone.now(),
        disabled_reason="No call succeeded for a day.",
    )

    change(row, active=True)

    row = Webhook.objects.get()
    assert (row.is_active, row.failing_since, row.disabled_at, row.disabled_reason) == (
        True,
        None,
        None,
        "",
    )


def test_deleting_takes_its_deliveries_along() -> None:
    row, other = make.webhook(), make.webhook("Other")
    event = make.event()
    make.delivery(event, row)
    kept = make.delivery(event, other)

    assert delete_webhook(webhook_id=row.pk, actor=make.actor("admin")) == row.pk

    assert list(Webhook.objects.all()) == [other]
    assert list(Delivery.objects.all()) == [kept]
    assert [attempt.delivery_id for attempt in Attempt.objects.all()] == [kept.pk]
    assert recorded("webhook.deleted") == [
        {"id": str(row.pk), "name": "Search", "host": "search.example"}
    ]
    with pytest.raises(NotFound):
        delete_webhook(webhook_id=row.pk, actor=make.actor("admin"))


def test_what_a_deleted_webhook_has_many_of_goes_in_the_background(
    monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    monkeypatch.setattr(retention, "BATCH_SIZE", 2)
    row, other = make.webhook(), make.webhook("Other")
    many = [make.delivery(make.event(), row, status="pending") for _ in range(5)]
    kept = make.delivery(make.event(), other)

    with run_on_commit():
        delete_webhook(webhook_id=row.pk, actor=make.actor("admin"))
        left = Delivery.objects.filter(pk__in=[one.pk for one in many])
        number, is_sent, one = (
            left.count(),
            delivery_queue.due_deliveries(timezone.now()).exists(),
            left[0].pk,
        )
        with pytest.raises(NotFound):
            find_delivery(one)
        with pytest.raises(NotFound):
            replay_delivery(delivery_id=one, actor=make.actor("admin"))

    assert (number, is_sent) == (3, False)
    assert list(Delivery.objects.all()) == [kept]
    assert {attempt.delivery_id for attempt in Attempt.objects.all()} == {kept.pk}


def test_what_is_left_of_a_deleted_webhook_goes_with_what_is_old() -> None:
    row, other = make.webhook(), make.webhook("Other")
    make.delivery(make.event(), row)
    kept = make.delivery(make.event(), other)
    Webhook.objects.filter(pk=row.pk).delete()

    assert prune_deliveries() == 1
    assert list(Delivery.objects.all()) == [kept]


def test_a_change_says_what_changed_and_nothing_secret() -> None:
    row = make.webhook(headers={"X-Key": "canary-one"}, secret=SECRET)

    change(
        row,
        name="Other",
        url="https://search.example/?key=canary-two",
        headers={"X-Key": "canary-three"},
        secret=SECOND,
    )

    assert Webhook.objects.get().version == 2
    assert Event.objects.get(name="webhook.changed").payload == {
        "id": str(row.pk),
        "name": "Other",
        "host": "search.example",
        "changed": ["name", "url", "headers", "secret", "secretRotatesUntil"],
    }
    kept = str(list(Event.objects.values()))
    assert not [word for word in ("canary", SECRET, SECOND) if word in kept]


def test_what_stays_the_same_is_no_change() -> None:
    row = make.webhook(headers={"X-Key": "value"}, secret=SECRET)

    change(
        row, name=row.name, url=row.url, headers={"x-key": SECRET_MASK}, secret=SECRET, active=True
    )

    assert Webhook.objects.get().headers == {"x-key": "value"}
    change(row, headers={"x-key": SECRET_MASK})
    assert Webhook.objects.get().version == 2


def test_a_mask_keeps_the_value_and_no_mask_drops_it() -> None:
    row = make.webhook(headers={"X-Key": "value", "X-Other": "gone"})

    row = change(row, headers={"x-key": SECRET_MASK, "X-New": "new"})

    assert Webhook.objects.get().headers == row.headers == {"x-key": "value", "X-New": "new"}


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "http://search.example/hook", "https://search.example:8443/hook"],
)
def test_values_of_headers_do_not_follow_to_another_host(url: str) -> None:
    """Threat 41: write-only values must not be sent to a host where they can be read."""
    row = make.webhook(headers={"Authorization": "Bearer abc"})

    for values in ({"url": url}, {"url": url, "headers": {"authorization": SECRET_MASK}}):
        with pytest.raises(RuleViolation) as refused:
            change(row, **values)
        assert (refused.value.code, list(refused.value.details)) == (
            "header_value_needed",
            ["headers"],
        )
    assert Webhook.objects.get().url == URL

    change(row, url="https://search.example:443/other")
    change(row, url=url, headers={"Authorization": "Bearer new"})
    assert Webhook.objects.get().headers == {"Authorization": "Bearer new"}


def test_the_secret_before_signs_along_for_a_day() -> None:
    row = make.webhook(secret=SECRET)
    before = timezone.now()

    row = change(row, secret=SECOND)

    assert row.previous_secret_until is not None
    assert timedelta(hours=24) <= row.previous_secret_until - before < timedelta(hours=25)
    assert keys_of(Webhook.objects.get()) == Keys(SECOND, SECRET)


def test_a_rotation_can_be_ended() -> None:
    row = change(make.webhook(secret=SECRET), secret=SECOND)

    change(row, end_rotation=True)

    assert keys_of(Webhook.objects.get()) == Keys(SECOND, "")
    assert SECRET not in str(list(Webhook.objects.values()))


def test_a_secret_that_signs_no_more_is_deleted() -> None:
    over, going_on = (change(make.webhook(name, secret=SECRET), secret=SECOND) for name in "ab")
    Webhook.objects.filter(pk=over.pk).update(
        previous_secret_until=timezone.now() - timedelta(seconds=1)
    )
    assert keys_of(Webhook.objects.get(pk=over.pk)) == Keys(SECOND, "")

    prune_deliveries()

    assert Webhook.objects.get(pk=over.pk).previous_secret == ""
    assert Webhook.objects.get(pk=over.pk).previous_secret_until is None
    assert keys_of(Webhook.objects.get(pk=going_on.pk)) == Keys(SECOND, SECRET)


def test_without_its_own_secret_the_shared_one_signs(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": "shared-secret-of-all"})
    row = make.webhook(secret=SECRET)

    change(row, secret="")

    assert keys_of(Webhook.objects.get()) == Keys("shared-secret-of-all", SECRET)
