"""The Django app of webhooks."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class WebhooksConfig(AppConfig):
    name = "proofroom.webhooks"
    label = "proofroom_webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core import redaction
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom.core.diagnostics import doctor
        from proofroom.core.observability.metrics import read_metrics
        from proofroom.notifications.notification_types import mentions_added
        from proofroom.notifications.services import register_kind
        from proofroom.webhooks import chat, dispatch
        from proofroom.webhooks.delivery_channels import WebhookChannel, channels
        from proofroom.webhooks.health import short_secrets
        from proofroom.webhooks.notifications import KINDS
        from proofroom.webhooks.queries import read_delivery_metrics
        from proofroom.webhooks.redaction import stored_secrets
        from proofroom.webhooks.workflow_definitions import WorkflowChannel

        doctor.app_checks.register(("webhooks", short_secrets, doctor.CHECK_DATABASE))
        redaction.secret_sources.register(stored_secrets)
        channels.register(WebhookChannel(), name="webhook")
        channels.register(WorkflowChannel(), name="workflow")
        channels.register(chat.ChatChannel(), name=chat.CHANNEL)
        read_metrics.register(read_delivery_metrics)
        dispatch.subscribe_webhooks()
        dispatch.subscribe_workflows()
        chat.subscribe_chat()
        mentions_added.register(chat.queue_mentions)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Webhooks"),
                "admin:proofroom_webhooks_webhook_changelist",
                "webhook",
                permissions=("webhooks.manage",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("Webhooks"), "admin:proofroom_webhooks_webhook_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Deliveries"), "admin:proofroom_webhooks_delivery_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Workflows"),
                        "admin:proofroom_webhooks_workflowswitch_changelist",
                    ),
                ),
            ),
            order=40,
        )
        for kind in KINDS:
            register_kind(kind)
