"""Every table of the product: changed by no tool, or by the listed tools."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from django.apps import apps
from django.db import connection
from django.db.models import Model, Q

ANY: Final = frozenset({"*"})
STAGING: Final = frozenset(
    {
        "add_module_to_post_ai_review",
        "create_post_ai_review",
        "create_translation_ai_review",
        "create_translations_ai_review_bulk",
        "remove_post_module_ai_review",
        "reorder_modules",
        "save_post_ai_review",
        "save_posts_ai_review",
        "set_post_taxonomy_terms_ai_review",
        "submit_ai_review_to_review",
        "unstage",
        "update_post_module_ai_review",
    }
)
MAKING: Final = frozenset(
    {"create_post_ai_review", "create_translation_ai_review", "create_translations_ai_review_bulk"}
)
RUNNING: Final = frozenset({"run_agent", "run_field_agent"})
IMAGES: Final = frozenset({"generate_image"})
LINKS: Final = frozenset({"create_post_preview_link", "revoke_post_preview_link"})
SUBMITTING: Final = frozenset({"save_posts_ai_review", "submit_ai_review_to_review"})
COMMENTING: Final = frozenset({"reply_to_comment", "resolve_comment"})
SENDING: Final = frozenset({"simulate_webhook_event"})

# Visitors, people at work and operators see these: no tool changes a row of them.
LIVE: Final = frozenset(
    {
        "socialaccount.SocialAccount", "socialaccount.SocialApp", "socialaccount.SocialToken",
        "account.EmailAddress", "account.EmailConfirmation", "mfa.Authenticator", "usersessions.UserSession",
        "proofroom_accounts.ApiToken", "proofroom_accounts.DeliveryToken", "proofroom_accounts.Invitation",
        "proofroom_accounts.LoginDevice",
        "proofroom_accounts.Preferences", "proofroom_accounts.SiteRole", "proofroom_accounts.User",
        "proofroom_core.ListView", "proofroom_core.LiveChange", "proofroom_notifications.NotificationChoice",
        "admin.LogEntry", "agents_app.AgentBatch", "agents_app.AgentSwitch", "agents_app.AiSettings",
        "agents_app.Budget: limits", "agents_app.ChampionChallenger", "agents_app.Evaluation",
        "agents_app.EvaluationItem", "agents_app.ProviderPause",
        "agents_app.ProviderCheck", "agents_app.StoppedChain", "analytics.AnalyticsEvent", "analytics.HeatBatch",
        "analytics.HeatSheet", "analytics.PostCount", "analytics.RollUp", "analytics.SiteCount", "auth.Group",
        "auth.Group_permissions", "auth.Permission", "content.AccessibilityReport", "content.Autosave",
        "content.CheckedAddress", "content.ContentLink", "content.ContentMigration",
        "content.CopyOrigin: live",
        "content.DecisionBatch",
        "content.DecisionItem", "content.EditedProposal", "content.EditingMark", "content.FieldValue",
        "proofroom_comments.AgentMention", "proofroom_feedback.Feedback",
        "proofroom_imports.ExportRun", "proofroom_imports.ExportSchedule",
        "proofroom_imports.ImportChunk", "proofroom_imports.ImportLine",
        "proofroom_imports.ImportRun",
        "proofroom_imports.ImportedObject",
        "proofroom_briefs.Brief", "proofroom_disclosure.DisclosedType",
        "proofroom_disclosure.DisclosureSettings", "proofroom_menus.Menu",
        "proofroom_embeds.EmbedFacts", "proofroom_snippets.PostTemplate", "proofroom_snippets.Snippet",
        "content.ModuleGroup", "content.ModuleInstance",
        "proofroom_privacy.ExportChunk", "proofroom_privacy.PersonalDataRequest",
        "proofroom_calendar.CalendarFeed",
        "proofroom_releases.Release", "proofroom_releases.ReleaseItem", "proofroom_releases.ReleaseRun",
        "proofroom_releases.ReleasePreviewLink",
        "proofroom_reviewers.ReviewerAdvice", "proofroom_reviewers.ReviewerLink",
        "proofroom_shared_content.ApprovalRule",
        "proofroom_shared_content.SharedProposal", "proofroom_shared_content.SharedRevision",
        "content.Post: live", "content.PostJob", "content.PostJobItem",
        "content.PostAuthor", "content.PostModule", "content.PostTerm", "content.Provenance",
        "content.RejectedChange",
        "content.ReplacedPlace", "content.Replacement", "content.Revision: live", "content.ScheduledApproval",
        "content.SearchEntry: live",
        "content.SearchWord",
        "proofroom_taxonomies.Term", "content.TreeMove", "content.UrlPattern", "contenttypes.ContentType",
        "proofroom_steps.Absence", "proofroom_steps.StepDecision", "proofroom_steps.StepRound",
        "proofroom_core.QueueFailure", "proofroom_core.ScheduledTask", "proofroom_core.Seal",
        "forms.FormDefinition", "forms.FormSubmission", "forms.SubmissionFile",
        "mcp_bridge.McpProcess",
        "mcp_bridge.McpToken", "oauth2_provider.AccessToken", "oauth2_provider.DeviceGrant", "oauth2_provider.Grant",
        "oauth2_provider.IDToken", "oauth2_provider.RefreshToken", "proofroom_oauth.OAuthClient",
        "proofroom_oauth.OAuthClientKeys", "proofroom_oauth.OAuthConnection", "media.FileCheck", "seo.Redirect",
        "sessions.Session",
        "proofroom_webhooks.Webhook", "proofroom_webhooks.WorkflowSwitch",
    }
)  # fmt: skip

# Proposals, and the records of calls, runs and deliveries: only by the tools that make them.
MAY_CHANGE: Final = {
    "agents_app.AgentRun": RUNNING,
    "agents_app.Budget: locks": RUNNING | IMAGES,
    "agents_app.BudgetNotice": RUNNING | IMAGES,
    "agents_app.PromptVersion": RUNNING,
    "agents_app.Reservation": RUNNING | IMAGES,
    "agents_app.RunMessage": RUNNING,
    "agents_app.RunPost": RUNNING,
    "agents_app.RunReaction": RUNNING,
    "agents_app.RunStep": RUNNING,
    "agents_app.Spending": RUNNING | IMAGES,
    "content.CopyOrigin: proposed": MAKING - {"create_post_ai_review"},
    "content.Draft: ai-review": STAGING | IMAGES | RUNNING,
    "content.Draft: review": SUBMITTING,
    "content.Post: proposed": MAKING,
    "proofroom_comments.Comment": COMMENTING,
    "proofroom_notifications.Notification": STAGING
    | SUBMITTING
    | MAKING
    | RUNNING
    | IMAGES
    | COMMENTING,
    "proofroom_previews.PreviewLink": LINKS,
    "content.QueuedChange: ai-review": STAGING | IMAGES | RUNNING,
    "content.QueuedChange: review": SUBMITTING,
    "content.Revision: proposed": MAKING,
    "content.SearchEntry: proposed": MAKING,
    "proofroom_core.ContentVersion": MAKING | IMAGES,  # the number that caches go by
    "proofroom_core.Event": ANY,
    "mcp_bridge.McpCall": ANY,
    "media.AltTextProposal": frozenset({"propose_alt_text"}),
    "media.Asset": IMAGES,
    "media.MediaReference": STAGING | IMAGES | RUNNING,
    "media.AssetSearchEntry": IMAGES,
    "media.StoredFile": IMAGES,
    "media.VariantWork": IMAGES,
    "proofroom_webhooks.Attempt": SENDING,
    "proofroom_webhooks.Delivery": SENDING,
    "proofroom_webhooks.SenderLease": SENDING,
}

# Of these tables one part is live, and another is not.
_LIMIT: Final = (
    Q(tokens_per_day__isnull=False)
    | Q(tokens_per_month__isnull=False)
    | Q(cost_per_day__isnull=False)
    | Q(cost_per_month__isnull=False)
)
_OF_A_POST: Final = {
    "live": Q(post__is_placeholder=False),
    "proposed": Q(post__is_placeholder=True),
}
_PARTS: Final = {
    "agents_app.Budget": {"limits": _LIMIT, "locks": ~_LIMIT},
    "content.CopyOrigin": _OF_A_POST,
    "content.Revision": _OF_A_POST,
    "content.SearchEntry": _OF_A_POST,
    "content.Post": {"live": Q(is_placeholder=False), "proposed": Q(is_placeholder=True)},
    "content.Draft": {"review": Q(layer="review"), "ai-review": Q(layer="ai-review")},
    "content.QueuedChange": {"review": Q(layer="review"), "ai-review": Q(layer="ai-review")},
}


def parts() -> dict[str, tuple[type[Model], Q]]:
    """Return every table of an installed app, or part of one, by name."""
    found: dict[str, tuple[type[Model], Q]] = {}
    for model in apps.get_models(include_auto_created=True):
        label = model._meta.label
        for name, rows in _PARTS.get(label, {"": Q()}).items():
            found[f"{label}: {name}" if name else label] = (model, rows)
    return found


def hashes() -> dict[str, str]:
    """Return a hash of all rows of each table."""
    return {name: _hash(model, rows) for name, (model, rows) in parts().items()}


def _hash(model: type[Model], rows: Q) -> str:
    if rows:
        found = list(model._base_manager.filter(rows).order_by("pk").values_list())
    else:  # by hand: made by the ORM the sixty statements would take longer than the call
        key = ", ".join(f'"{field.column}"' for field in model._meta.pk_fields)
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM "{model._meta.db_table}" ORDER BY {key}')  # noqa: S608
            found = cursor.fetchall()
    return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()


def changed(before: dict[str, str]) -> set[str]:
    """Return the changed tables."""
    after = hashes()
    return {name for name in after if after[name] != before[name]}


def allowed(tool: str) -> set[str]:
    """Return the tables that a call of the tool may change."""
    return {name for name, tools in MAY_CHANGE.items() if tools == ANY or tool in tools}
