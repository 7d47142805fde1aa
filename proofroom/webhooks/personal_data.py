"""Personal data of webhooks: answers of receivers, and the receivers that got a person's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.events import all_kinds
from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention
from proofroom.webhooks.models import Delivery, DeliveryStatus

_BATCH_ROWS: Final = 500
_MAX_RECEIVERS: Final = 50


def _find_receivers(person: Person) -> Iterable[str]:
    """Yield the receivers that got an event with the person's address."""
    private = [kind.name for kind in all_kinds() if kind.is_private]
    rows = person.filter_mentions(Event.objects.filter(name__in=private), "payload")
    receivers: set[str] = set()
    for ids in _batches(rows.only("pk", "payload").iterator(chunk_size=_BATCH_ROWS), person):
        sent = Delivery.objects.filter(event_id__in=ids, status=DeliveryStatus.SUCCEEDED)
        for lane, name, url in sent.values_list("lane", "webhook__name", "webhook__url"):
            receivers.add(f"{name} ({url})" if name else lane.partition(":")[2] or lane)
    for receiver in sorted(receivers)[:_MAX_RECEIVERS]:
        yield _("A receiver of webhooks got submissions of this person: %(receiver)s") % {
            "receiver": receiver
        }


def _batches(events: Iterable[Event], person: Person) -> Iterator[list[int]]:
    batch: list[int] = []
    for event in events:
        if person.is_mentioned(event.payload):
            batch.append(event.pk)
        if len(batch) == _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


class Answers(TableKind):
    """What receivers answered, and errors. Only the parts about the person are exported."""

    def records(self, person: Person) -> Iterator[JsonObject]:
        for table in self.tables:
            for row in table.mentions(person):
                texts = (getattr(row, column) for column in table.texts)
                answer = [part for text in texts for part in person.passages(text)]
                yield {**table.record(row), "answer": [*answer]}


COPIES: Final = (_find_receivers,)
KINDS: Final = (
    Answers(
        "webhooks.answers",
        gettext_lazy("Answers of webhook receivers with this address"),
        Table(
            "proofroom_webhooks.Attempt",
            ("at", "status_code"),
            texts=("response_body", "error"),
        ),
        Table("proofroom_webhooks.Delivery", ("event_name", "created_at"), texts=("last_error",)),
        erasure=Erasure.MASKED,
        reason=gettext_lazy("The attempts stay. The requests themselves are never stored."),
    ),
    TableKind(
        "webhooks.settings",
        gettext_lazy("Webhooks and workflows that this person set up"),
        Table("proofroom_webhooks.Webhook", ("name", "created_at"), owners=("made_by",)),
        Table("proofroom_webhooks.WorkflowSwitch", ("updated_at",), owners=("updated_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("They refer to the account without its name."),
    ),
)
WITHOUT_PERSONAL_DATA: Final = ("proofroom_webhooks.SenderLease",)
RETENTIONS: Final = (
    Retention(
        "webhook-deliveries",
        gettext_lazy("Finished webhook deliveries"),
        setting="WEBHOOK_DELIVERY_DAYS",
        task_name="webhooks.tasks.prune_deliveries",
    ),
)
