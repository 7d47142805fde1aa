"""The admin of webhooks: list, forms, tests and replays."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.labels import badge, switch_badge
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.redaction import SECRET_MASK
from proofroom.core.validation.form_fields import InputForm
from proofroom.webhooks import queries
from proofroom.webhooks.admin.deliveries import badge_of
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.models.webhook import COLUMNS, NewWebhook, WebhookChanges
from proofroom.webhooks.rules import webhook_events
from proofroom.webhooks.services.replay import cancel_replay, replay_since
from proofroom.webhooks.services.test_calls import test_webhook
from proofroom.webhooks.services.webhooks import (
    create_webhook,
    delete_webhook,
    host_of,
    update_webhook,
)
from proofroom.webhooks.signatures import keys_of

CHANGE_PAGE = "admin:proofroom_webhooks_webhook_change"


class WebhookForm(InputForm):
    """The form of a new webhook. Its fields have wire names, so that errors of the service match them."""

    input_class = NewWebhook
    own_fields_after = "secret"
    generate = forms.BooleanField(
        label=gettext_lazy("Generate secret"),
        required=False,
        help_text=gettext_lazy("Shown once, after you save."),
    )

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
                    _("Line %(number)s repeats %(name)s.") % {"number": number, "name": name[:100]}
                )
            found[name] = value
        return found

    made: str = ""
    """The generated secret, shown once; empty if none was generated."""

    def clean(self) -> dict[str, Any]:
        """Generate a secret if the user asked for it."""
        if self.cleaned_data.pop("generate", False):
            self.cleaned_data["secret"] = self.made = secrets.token_urlsafe(32)
        return self.cleaned_data


class ChangeWebhookForm(WebhookForm):
    """The form of an existing webhook."""

    shared = forms.BooleanField(
        label=gettext_lazy("Sign with AGENT_SECRET"),
        required=False,
        help_text=gettext_lazy("Deletes the secret of this webhook."),
    )
    endRotation = forms.BooleanField(
        label=gettext_lazy("Stop signing with the old secret"),
        required=False,
        help_text=gettext_lazy("After the receiver uses the new secret."),
    )
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, *args: Any, row: Webhook, **kwargs: Any) -> None:
        initial = {
            info.alias or name: getattr(row, COLUMNS.get(name, name))
            for name, info in NewWebhook.model_fields.items()
        }
        # Header values may be credentials, so the form shows a mask. `clean_headers` of the rules restores the value.
        initial["headers"] = "\n".join(f"{name}: {SECRET_MASK}" for name in row.headers)
        super().__init__(*args, initial=initial | {"secret": "", "version": row.version}, **kwargs)
        self.fields["secret"].help_text = gettext_lazy(
            "Leave blank to keep the current secret. A new secret is used "
            "immediately. The old one also signs for one day, so that you can "
            "update the receiver."
        )
        if not row.secret:
            del self.fields["shared"]
        if row.secret_rotates_until is None:
            del self.fields["endRotation"]

    def changes(self) -> WebhookChanges:
        """Return the changes for the service. An empty secret leaves the current one."""
        values = dict(self.cleaned_data)
        shared = values.pop("shared", False)
        if not values["secret"]:
            values["secret"] = "" if shared else None
        return WebhookChanges(**values)


class ReplayForm(forms.Form):
    since = forms.DateTimeField(
        label=gettext_lazy("Resend events since"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=gettext_lazy(
            "Includes events from while the webhook was off. Receivers can discard duplicates by "
            "ID."
        ),
    )


@admin.register(Webhook)
class WebhookAdmin(EditAdmin[Webhook]):
    view_permission = add_permission = "webhooks.manage"
    empty_words = gettext_lazy(
        "A webhook calls your address when something happens: a post is published, public content "
        "changes, or a form is submitted."
    )
    list_title = gettext_lazy("Webhooks")
    add_title, add_button, add_form = (
        gettext_lazy("New webhook"),
        gettext_lazy("Create webhook"),
        WebhookForm,
    )
    change_form = WebhookForm
    delete_sentence = gettext_lazy(
        "The address is no longer called. Its deliveries are deleted as well."
    )
    list_display = ("name", "host", "told_of", "state", "last", "failing_since")
    list_filter = ("is_active",)
    search_fields = ("name", "url")
    ordering = ("name", "id")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return queries.with_last_delivery(super().get_queryset(request))

    @admin.display(description=gettext_lazy("Host"))
    def host(self, row: Webhook) -> str:
        return host_of(row.url)

    @admin.display(description=gettext_lazy("Events"))
    def told_of(self, row: Webhook) -> str:
        labels = webhook_events()
        return ", ".join(labels.get(name, name) for name in row.events)

    @admin.display(description=gettext_lazy("Status"))
    def state(self, row: Webhook) -> SafeString:
        return state_of(row)

    @admin.display(description=gettext_lazy("Last delivery"))
    def last(self, row: Webhook) -> SafeString | str:
        status = getattr(row, "last_status", None)
        return badge_of(status) if status else _("none yet")

    def get_urls(self) -> list[URLPattern]:
        def own(name: str, view: Callable[..., Any]) -> URLPattern:
            wrapped = self.admin_site.admin_view(view)
            return path(
                f"<uuid:webhook_id>/{name}/",
                wrapped,
                name=f"proofroom_webhooks_webhook_{view.__name__}",
            )

        return [
            own("test", test),
            own("replay", replay),
            own("replay/cancel", cancel),
            *super().get_urls(),
        ]

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        assert isinstance(form, WebhookForm)  # noqa: S101  # `add_form` above
        row = create_webhook(actor=actor_of(request), webhook=NewWebhook(**form.cleaned_data))
        if form.made:
            return webhook_page(request, row, ChangeWebhookForm(row=row), secret=form.made)
        messages.success(
            request,
            _("Created %(name)s. Send a test to check whether it responds.") % {"name": row.name},
        )
        return HttpResponseRedirect(reverse(CHANGE_PAGE, args=[row.pk]))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, self.add_permission)
        row = self._find(object_id)
        form = ChangeWebhookForm(request.POST if request.method == "POST" else None, row=row)

        def save() -> None:
            update_webhook(webhook_id=row.pk, actor=actor_of(request), changes=form.changes())

        if not (form.is_bound and save_form(form, save)):
            return webhook_page(request, row, form)
        if form.made:
            row = self._find(object_id)
            # No redirect after this POST: the secret is only in this response, not even in the session.
            return webhook_page(request, row, ChangeWebhookForm(row=row), secret=form.made)
        messages.success(request, _("Saved."))
        return HttpResponseRedirect(request.path)

    def remove(self, request: HttpRequest, row: Webhook, form: forms.Form) -> None:
        delete_webhook(webhook_id=row.pk, actor=actor_of(request))


def state_of(row: Webhook) -> SafeString:
    """Return the badge of a webhook: on, off, failing or disabled."""
    if row.is_active:
        return badge("failed", _("Failing")) if row.failing_since else switch_badge(True)
    return badge("failed", _("Turned off")) if row.disabled_at else switch_badge(False)


def webhook_page(
    request: HttpRequest, row: Webhook, form: forms.Form, secret: str = ""
) -> TemplateResponse:
    calls = queries.recent_calls(row)
    keys = keys_of(row)
    context: dict[str, Any] = {
        "row": row,
        "state": state_of(row),
        "secret": secret,
        "host": host_of(row.url),
        "signed_by": "own" if row.secret else "shared" if keys.current else "",
        "rotates_until": row.secret_rotates_until,
        "calls": calls,
        "went_well": sum(call.is_ok for call in calls),
        "left": row.replay_left if row.replaying else None,
        "replay_form": ReplayForm(),
        "deliveries": [
            (one, badge_of(one.status)) for one in row.deliveries.order_by("-created_at")[:5]
        ],
        "delete_url": reverse("admin:proofroom_webhooks_webhook_delete", args=[row.pk]),
    }
    template = "admin/proofroom_webhooks/webhook.html"
    return form_page(request, template, Webhook, context, title=row.name, form=form)


@require_POST
@service_errors_as_http
def test(request: HttpRequest, webhook_id: object) -> HttpResponse:
    """Send a sample to this webhook only, and show its delivery."""
    require(request, "webhooks.manage")
    row: Delivery = test_webhook(webhook_id=str(webhook_id), actor=actor_of(request))
    messages.success(request, _("Sending a test."))
    return HttpResponseRedirect(reverse("admin:proofroom_webhooks_delivery_change", args=[row.pk]))


@require_POST
@service_errors_as_http
def replay(request: HttpRequest, webhook_id: object) -> HttpResponse:
    """Send the events since a time again."""
    require(request, "webhooks.manage")
    form = ReplayForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a start date and time."))
    else:
        with service_errors_as_messages(request):
            replay_since(
                webhook_id=str(webhook_id),
                since=form.cleaned_data["since"],
                actor=actor_of(request),
            )
            messages.success(request, _("Sending again, oldest first."))
    return HttpResponseRedirect(reverse(CHANGE_PAGE, args=[webhook_id]))


@require_POST
@service_errors_as_http
def cancel(request: HttpRequest, webhook_id: object) -> HttpResponse:
    """Stop a replay."""
    require(request, "webhooks.manage")
    cancel_replay(webhook_id=str(webhook_id), actor=actor_of(request))
    messages.success(request, _("Stopped. Deliveries already in the queue are still sent."))
    return HttpResponseRedirect(reverse(CHANGE_PAGE, args=[webhook_id]))
