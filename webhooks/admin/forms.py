"""The form of a webhook, as people fill it in."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings

from core.post_kinds import post_type_labels
from webhooks import rules
from webhooks.models import Webhook
from webhooks.presenters import rotates_until

_KEPT_HELP = (
    "Empty keeps it as it is. A new one signs at once; the one before signs along for a day, "
    "while the receiver learns the new one."
)
_SECRET = forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"})


class WebhookForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    name = forms.CharField(
        label="Name", max_length=rules.NAME_MAX, help_text="What is told, such as “Search index”."
    )
    url = forms.CharField(
        label="Address", max_length=rules.URL_MAX, help_text="https://… or http://…"
    )
    events = forms.MultipleChoiceField(label="Events", widget=forms.CheckboxSelectMultiple)
    types = forms.MultipleChoiceField(
        label="Post types",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all. Submissions of forms come in any case.",
    )
    locales = forms.MultipleChoiceField(
        label="Languages",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all.",
    )
    headers = forms.CharField(
        label="Headers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "json", "spellcheck": "false"}),
        help_text=f"One a line, as Name: value. A value is never shown again; {rules.MASK} keeps it.",
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        strip=False,
        max_length=rules.SECRET_MAX,
        widget=_SECRET,
        help_text="Up to 200 characters that sign every call, long and random best. Empty: AGENT_SECRET signs.",
    )
    generate = forms.BooleanField(
        label="Make a secret",
        required=False,
        help_text="It is shown once, after saving.",
    )
    active = forms.BooleanField(label="Active", required=False, initial=True)
    test = forms.BooleanField(
        label="For tests",
        required=False,
        help_text="Simulated events of diagnostics tools are sent here too.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._choose("events", rules.webhook_events())
        self._choose("types", post_type_labels())
        self._choose("locales", {locale: locale for locale in settings.CMS_ENV.locales})

    def _choose(self, name: str, choices: dict[str, str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # declared above
        field.choices = list(choices.items())

    def clean_headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["headers"].splitlines(), start=1):
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not name and not colon:
                continue
            if not colon:
                raise forms.ValidationError(f"Line {number} has no colon between name and value.")
            if name in found:
                raise forms.ValidationError(f"Line {number} gives {name[:100]} a second time.")
            found[name] = value
        return found

    def values(self) -> dict[str, Any]:
        """What to hand to the service; a secret that was to be made is made here, once."""
        values = dict(self.cleaned_data)
        if values.pop("generate"):
            values["secret"] = self.made = secrets.token_urlsafe(32)
        return values

    made: str = ""
    """The secret that was made, to be shown once."""


class ChangeWebhookForm(WebhookForm):
    shared = forms.BooleanField(
        label="Sign with AGENT_SECRET", required=False, help_text="Its own secret is deleted."
    )
    endRotation = forms.BooleanField(
        label="The secret before signs no longer",
        required=False,
        help_text="Once the receiver knows the new one.",
    )
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    field_order = (
        "name",
        "url",
        "events",
        "types",
        "locales",
        "headers",
        "secret",
        "generate",
        "shared",
        "endRotation",
    )

    def __init__(self, *args: Any, row: Webhook, **kwargs: Any) -> None:
        super().__init__(*args, initial=_initial(row), **kwargs)
        self.fields["secret"].help_text = _KEPT_HELP
        if not row.secret:
            del self.fields["shared"]
        if rotates_until(row) is None:
            del self.fields["endRotation"]

    def values(self) -> dict[str, Any]:
        values = super().values()
        shared = values.pop("shared", False)
        if not values["secret"]:
            values["secret"] = "" if shared else None
        values["end_rotation"] = values.pop("endRotation", False)
        values["expected_version"] = values.pop("version")
        return values


def _initial(row: Webhook) -> dict[str, object]:
    return {
        "name": row.name,
        "url": row.url,
        "events": row.events,
        "types": row.types,
        "locales": row.locales,
        "headers": "\n".join(f"{name}: {rules.MASK}" for name in row.headers),
        "active": row.is_active,
        "test": row.is_test,
        "version": row.version,
    }


class ReplayForm(forms.Form):
    since = forms.DateTimeField(
        label="Send again what happened since",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="In UTC. Also what happened while the webhook was off. Receivers drop doubles by the id.",
    )
