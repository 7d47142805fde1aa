"""Webhooks: the model, form inputs and API answers. Declare a new field only here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, ClassVar, Final
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from pydantic import BeforeValidator, Field

from proofroom.core import outbox
from proofroom.core.api.answer import Answer, TextOrNull, one_of
from proofroom.core.api.body import Body, Whole, Words
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.models import Event
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.redaction import SECRET_MASK
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import URL_MAX
from proofroom.webhooks import rules
from proofroom.webhooks.models.delivery import Delivery, DeliveryStatus

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    StrOrPromise = str | StrPromise

CHOICES_MAX: Final = 200
"""Largest number of chosen events, types or languages; more than exist."""
_ALWAYS_SENT: Final = gettext_lazy(
    "Leave blank for all. Form submissions and changes of menus, redirects and settings are always "
    "included."
)
COLUMNS: Final = {"active": "is_active", "test": "is_test"}
"""Columns whose name differs from the wire name."""


class Webhook(models.Model):
    """A URL that is called when events happen.

    `failing_since`: the first failure after the last success. `replay_after` and `replay_until`: the ids between
    which events have still to be replayed.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=URL_MAX)
    events = models.JSONField(default=list)
    types = models.JSONField(default=list, help_text="Post types; none means all.")
    locales = models.JSONField(default=list, help_text="Languages; none means all.")
    headers = models.JSONField(default=dict, help_text="Sent along; may hold credentials.")
    secret = models.CharField(max_length=200, blank=True, help_text="Empty: AGENT_SECRET.")
    previous_secret = models.CharField(max_length=200, blank=True)
    previous_secret_until = models.DateTimeField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    is_test = models.BooleanField(default=False, help_text="Told of simulated events too.")
    failing_since = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    replay_after = models.BigIntegerField(null=True, blank=True)
    replay_until = models.BigIntegerField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    last_delivery: Delivery | None = None  # set by `queries.load_last_deliveries`

    class Meta:
        ordering: ClassVar[list[str]] = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def has_secret(self) -> bool:
        """True if it has its own secret; otherwise AGENT_SECRET signs."""
        return bool(self.secret)

    @property
    def secret_rotates_until(self) -> datetime | None:
        """Time until which the previous secret also signs; None if it does not sign."""
        until = self.previous_secret_until
        return until if self.previous_secret and until and until > timezone.now() else None

    @property
    def replaying(self) -> bool:
        """True if earlier events are being sent again."""
        return self.replay_until is not None

    @property
    def replay_left(self) -> int:
        """Number of events that a replay has still to queue. One query while it runs."""
        if self.replay_until is None:
            return 0
        return Event.objects.filter(
            id__gt=self.replay_after or 0,
            id__lte=self.replay_until,
            name__in=outbox.recorded_names(self.events),
        ).count()


def mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace header values by a mask, because they may be credentials."""
    return dict.fromkeys(headers, SECRET_MASK)


class LastDeliveryAnswer(Answer):
    """The latest delivery, in short."""

    id: UUID
    event: str = Field(validation_alias="event_name")
    status: Annotated[str, one_of(DeliveryStatus.values)]
    status_code: int | None = Field(validation_alias="last_status_code")
    created_at: datetime


class WebhookAnswer(Answer):
    """A webhook. Header values are shown as `•••`, which keeps the stored ones when sent back; secrets never are."""

    id: UUID
    name: str
    url: str
    events: list[str]
    types: list[str] = Field(description="None means all.")
    locales: list[str] = Field(description="None means all.")
    headers: Annotated[dict[str, str], BeforeValidator(mask_headers)]
    has_secret: bool = Field(
        description="Whether the webhook has its own secret instead of AGENT_SECRET."
    )
    secret_rotates_until: datetime | None = Field(
        description="The time until which the previous secret also signs."
    )
    active: bool = Field(validation_alias="is_active")
    test: bool = Field(
        validation_alias="is_test", description="Whether it also receives simulated events."
    )
    failing_since: datetime | None
    disabled_at: datetime | None = Field(
        description="When it was turned off after its URL had failed for a day."
    )
    disabled_reason: TextOrNull
    last_delivery: LastDeliveryAnswer | None
    replaying: bool = Field(description="Whether past events are being resent.")
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


class WebhookInFullAnswer(WebhookAnswer):
    """A webhook, and the number of events left to replay."""

    replay_left: int = Field(ge=0)


def choice_field(
    label: StrOrPromise, choices: Mapping[str, str], help_text: StrOrPromise = "", *, required: bool
) -> forms.Field:
    """Return a form field with a checkbox for each choice."""
    return forms.MultipleChoiceField(
        label=label,
        required=required,
        widget=forms.CheckboxSelectMultiple,
        help_text=help_text,
        choices=[(value, in_words(text)) for value, text in choices.items()],
    )


class NewWebhook(Body, answered_by=WebhookInFullAnswer):
    """A webhook. Other keys that a GET answers are ignored."""

    name: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Name"),
                max_length=rules.NAME_MAX,
                help_text=gettext_lazy("What it is for, such as “Search index”."),
            )
        ),
    ] = Field(min_length=1, max_length=rules.NAME_MAX)
    url: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Address"),
                max_length=URL_MAX,
                help_text=gettext_lazy("https://… or http://…"),
            )
        ),
    ] = Field(min_length=1, max_length=URL_MAX, description="An http or https URL.")
    events: Annotated[
        list[Words],
        FormField(
            lambda: choice_field(
                gettext_lazy("Events"),
                rules.webhook_events(),
                gettext_lazy(
                    "For a CDN, a cache or a frontend, choose only “Public content changed”. It is "
                    "sent for every change that visitors can see, also of menus, redirects and "
                    "files, and lists the cache tags and pages to refresh. The other events are "
                    "about one post or one form submission. Changes that wait for review send no "
                    "event."
                ),
                required=True,
            )
        ),
    ] = Field(min_length=1, max_length=CHOICES_MAX)
    types: Annotated[
        list[Words],
        FormField(
            lambda: choice_field(
                gettext_lazy("Post types"),
                post_type_labels(),
                _ALWAYS_SENT,
                required=False,
            )
        ),
    ] = Field([], max_length=CHOICES_MAX, description="Post types; none means all.")
    locales: Annotated[
        list[Words],
        FormField(
            lambda: choice_field(
                gettext_lazy("Languages"),
                dict(site_languages()),
                _ALWAYS_SENT,
                required=False,
            )
        ),
    ] = Field([], max_length=CHOICES_MAX, description="Languages; none means all.")
    headers: Annotated[
        dict[str, Words],
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Headers"),
                required=False,
                widget=forms.Textarea(attrs={"rows": 3, "class": "json", "spellcheck": "false"}),
                help_text=format_lazy(
                    gettext_lazy(
                        "One per line, as Name: value. Values are not shown again; keep "
                        "{mask} to leave a value unchanged."
                    ),
                    mask=SECRET_MASK,
                ),
            )
        ),
    ] = Field({}, description="Headers of each request. Their values are never returned.")
    secret: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Secret"),
                required=False,
                strip=False,
                max_length=rules.SECRET_MAX,
                widget=forms.PasswordInput(
                    attrs={"autocomplete": "new-password", "spellcheck": "false"}
                ),
                help_text=gettext_lazy(
                    "Up to 200 characters, used to sign every call. Use a long, random value. "
                    "Leave blank to sign with AGENT_SECRET."
                ),
            )
        ),
    ] = Field(
        "",
        max_length=rules.SECRET_MAX,
        description="At most 200 characters. If empty, AGENT_SECRET signs. Never returned.",
    )
    active: Annotated[
        bool,
        FormField(
            lambda: forms.BooleanField(label=gettext_lazy("Active"), required=False, initial=True)
        ),
    ] = True
    test: Annotated[
        bool,
        FormField(
            lambda: forms.BooleanField(
                label=gettext_lazy("For tests"),
                required=False,
                help_text=gettext_lazy("Also receives simulated events from diagnostics tools."),
            )
        ),
    ] = Field(False, description="Whether it gets simulated events too.")


class WebhookChanges(NewWebhook, answered_by=WebhookInFullAnswer, partial=True):
    """Changes of a webhook; absent fields stay unchanged. Other keys that a GET answers are ignored."""

    headers: dict[str, Words] = Field(description="All headers; `•••` keeps the current value.")
    secret: Words = Field(
        max_length=rules.SECRET_MAX,
        description="A new secret; the previous one also signs for a day. If empty, AGENT_SECRET signs.",
    )
    end_rotation: bool = Field(False, description="The previous secret stops signing immediately.")
    version: Whole | None = Field(
        None, description="The version you last read. An outdated version is refused with 409."
    )
