"""The form of a webhook, as people fill it in."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.post_kinds import post_type_labels
from core.words import in_words
from webhooks import rules
from webhooks.models import Webhook
from webhooks.presenters import rotates_until

_KEPT_HELP = gettext_lazy(
    "Empty keeps it as it is. A new one signs at once; the one before signs along for a "
    "day, while the receiver learns the new one."
)
_SECRET = forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"})


class WebhookForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=rules.NAME_MAX,
        help_text=gettext_lazy("What is told, such as “Search index”."),
    )
    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=rules.URL_MAX,
        help_text=gettext_lazy("https://… or http://…"),
    )
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Events"), widget=forms.CheckboxSelectMultiple
    )
    types = forms.MultipleChoiceField(
        label=gettext_lazy("Post types"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen means all. Submissions of forms come in any case."),
    )
    locales = forms.MultipleChoiceField(
        label=gettext_lazy("Languages"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen means all."),
    )
    headers = forms.CharField(
        label=gettext_lazy("Headers"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "json", "spellcheck": "false"}),
        help_text=format_lazy(
            gettext_lazy(
                "One a line, as Name: value. A value is never shown again; {mask} keeps it."
            ),
            mask=rules.MASK,
        ),
    )
    secret = forms.CharField(
        label=gettext_lazy("Secret"),
        required=False,
        strip=False,
        max_length=rules.SECRET_MAX,
        widget=_SECRET,
        help_text=gettext_lazy(
            "Up to 200 characters that sign every call, long and random best. Empty: "
            "AGENT_SECRET signs."
        ),
    )
    generate = forms.BooleanField(
        label=gettext_lazy("Make a secret"),
        required=False,
        help_text=gettext_lazy("It is shown once, after saving."),
    )
    active = forms.BooleanField(label=gettext_lazy("Active"), required=False, initial=True)
    test = forms.BooleanField(
        label=gettext_lazy("For tests"),
        required=False,
        help_text=gettext_lazy("Simulated events of diagnostics tools are sent here too."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._choose("events", rules.webhook_events())
        self._choose("types", post_type_labels())
        self._choose("locales", {locale: locale for locale in settings.CMS_ENV.locales})

    def _choose(self, name: str, choices: dict[str, str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # declared above
        field.choices = [(value, in_words(label)) for value, label in choices.items()]

    def clean_headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["headers"].splitlines(), start=1):
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not name and not colon:
                continue
            if not colon:
                raise forms.ValidationError(
                    _("Line %(number)s has no colon between name and value.") % {"number": number}
                )
            if name in found:
                raise forms.ValidationError(
                    _("Line %(number)s gives %(name)s a second time.")
                    % {"number": number, "name": name[:100]}
                )
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
        label=gettext_lazy("Sign with AGENT_SECRET"),
        required=False,
        help_text=gettext_lazy("Its own secret is deleted."),
    )
    endRotation = forms.BooleanField(
        label=gettext_lazy("The secret before signs no longer"),
        required=False,
        help_text=gettext_lazy("Once the receiver knows the new one."),
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
        label=gettext_lazy("Send again what happened since"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=gettext_lazy(
            "In UTC. Also what happened while the webhook was off. Receivers drop doubles by the "
            "id."
        ),
    )
