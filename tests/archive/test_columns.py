"""Every table and every column is exported, or listed here with a reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest
from django.apps import apps
from django.db.models import Model
from django.utils import timezone

from content.document.post_fields import POST_FIELDS
from content.models import Layer, Post, Provenance, Revision
from content.modules.module_groups import create_group
from media.models import Asset
from media.services.player import set_captions, set_poster
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import propose_change
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import create_term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import edited_menu
from proofroom_apps.menus.shared_kind import MenuKind
from seo.models import Redirect
from tests import make
from tests.archive import site
from tests.media.pictures import store
from tests.media.recordings import VTT, mp4

pytestmark = pytest.mark.django_db

ACCOUNTS: Final = "accounts and what belongs to them stay; people are named by their e-mail address"
SECRETS: Final = "credentials and what they did"
MADE_AGAIN: Final = "follows from what is exported"
VISITORS: Final = "what visitors left"
WORK: Final = "work under way, and records of it"
SETTINGS: Final = "a choice of the installation, not content"
HISTORY: Final = "what happened in the installation"

LEFT_OUT_TABLES: Final = {
    "account.EmailAddress": ACCOUNTS,
    "account.EmailConfirmation": SECRETS,
    "admin.LogEntry": HISTORY,
    "agents_app.AgentBatch": WORK,
    "agents_app.AgentRun": WORK,
    "agents_app.AgentSwitch": SETTINGS,
    "agents_app.AiSettings": SETTINGS,
    "agents_app.Budget": SETTINGS,
    "agents_app.BudgetNotice": HISTORY,
    "agents_app.ChampionChallenger": SETTINGS,
    "agents_app.Evaluation": WORK,
    "agents_app.EvaluationItem": WORK,
    "agents_app.PromptVersion": HISTORY,
    "agents_app.ProviderCheck": HISTORY,
    "agents_app.ProviderPause": WORK,
    "agents_app.Reservation": WORK,
    "agents_app.RunMessage": WORK,
    "agents_app.RunPost": WORK,
    "agents_app.RunReaction": WORK,
    "agents_app.RunStep": WORK,
    "agents_app.Spending": HISTORY,
    "agents_app.StoppedChain": WORK,
    "analytics.AnalyticsEvent": VISITORS,
    "analytics.HeatBatch": VISITORS,
    "analytics.HeatSheet": VISITORS,
    "analytics.PostCount": VISITORS,
    "analytics.RollUp": VISITORS,
    "analytics.SiteCount": VISITORS,
    "auth.Group": ACCOUNTS,
    "auth.Permission": ACCOUNTS,
    "content.AccessibilityReport": "a test of the pages of this installation",
    "content.Autosave": WORK,
    "content.CheckedAddress": MADE_AGAIN,
    "content.ContentLink": MADE_AGAIN,
    "content.ContentMigration": HISTORY,
    "content.DecisionBatch": WORK,
    "content.DecisionItem": WORK,
    "content.EditedProposal": HISTORY,
    "content.EditingMark": WORK,
    "content.FieldValue": MADE_AGAIN,
    "content.PostAuthor": MADE_AGAIN,
    "content.PostJob": WORK,
    "content.PostJobItem": WORK,
    "content.RejectedChange": "a decision on what was proposed in the installation",
    "content.ReplacedPlace": WORK,
    "content.Replacement": WORK,
    "content.ScheduledApproval": WORK,
    "content.SearchEntry": MADE_AGAIN,
    "content.SearchWord": MADE_AGAIN,
    "content.TreeMove": WORK,
    "contenttypes.ContentType": MADE_AGAIN,
    "forms.FormSubmission": VISITORS,
    "forms.SubmissionFile": VISITORS,
    "mcp_bridge.McpCall": SECRETS,
    "mcp_bridge.McpProcess": WORK,
    "mcp_bridge.McpToken": SECRETS,
    "media.AltTextProposal": WORK,
    "media.AssetSearchEntry": MADE_AGAIN,
    "media.FileCheck": HISTORY,
    "media.VariantWork": WORK,
    "mfa.Authenticator": SECRETS,
    "oauth2_provider.AccessToken": SECRETS,
    "oauth2_provider.DeviceGrant": SECRETS,
    "oauth2_provider.Grant": SECRETS,
    "oauth2_provider.IDToken": SECRETS,
    "oauth2_provider.RefreshToken": SECRETS,
    "proofroom_accounts.ApiToken": SECRETS,
    "proofroom_accounts.DeliveryToken": SECRETS,
    "proofroom_accounts.Invitation": SECRETS,
    "proofroom_accounts.LoginDevice": ACCOUNTS,
    "proofroom_accounts.Preferences": ACCOUNTS,
    "proofroom_accounts.SiteRole": ACCOUNTS,
    "proofroom_accounts.User": ACCOUNTS,
    "proofroom_calendar.CalendarFeed": SECRETS,
    "proofroom_comments.AgentMention": WORK,
    "proofroom_comments.Comment": WORK,
    "proofroom_core.ContentVersion": MADE_AGAIN,
    "proofroom_core.Event": HISTORY,
    "proofroom_core.ListView": SETTINGS,
    "proofroom_core.LiveChange": HISTORY,
    "proofroom_core.QueueFailure": HISTORY,
    "proofroom_core.ScheduledTask": HISTORY,
    "proofroom_core.Seal": HISTORY,
    "proofroom_disclosure.DisclosedType": SETTINGS,
    "proofroom_disclosure.DisclosureSettings": SETTINGS,
    "proofroom_embeds.EmbedFacts": MADE_AGAIN,
    "proofroom_feedback.Feedback": VISITORS,
    "proofroom_imports.ExportSchedule": WORK,
    "proofroom_imports.ImportChunk": WORK,
    "proofroom_imports.ImportLine": WORK,
    "proofroom_imports.ImportRun": WORK,
    "proofroom_imports.ImportedObject": "which item of another system a row came from",
    "proofroom_notifications.Notification": HISTORY,
    "proofroom_notifications.NotificationChoice": SETTINGS,
    "proofroom_oauth.OAuthClient": SECRETS,
    "proofroom_oauth.OAuthClientKeys": SECRETS,
    "proofroom_oauth.OAuthConnection": SECRETS,
    "proofroom_previews.PreviewLink": SECRETS,
    "proofroom_releases.Release": WORK,
    "proofroom_releases.ReleaseItem": WORK,
    "proofroom_releases.ReleasePreviewLink": SECRETS,
    "proofroom_releases.ReleaseRun": WORK,
    "proofroom_reviewers.ReviewerAdvice": HISTORY,
    "proofroom_reviewers.ReviewerLink": SECRETS,
    "proofroom_privacy.ExportChunk": WORK,
    "proofroom_privacy.PersonalDataRequest": WORK,
    "proofroom_shared_content.ApprovalRule": SETTINGS,
    "proofroom_shared_content.SharedRevision": "menus, terms and global modules begin a new history",
    "proofroom_steps.Absence": ACCOUNTS,
    "proofroom_steps.StepDecision": WORK,
    "proofroom_steps.StepRound": WORK,
    "proofroom_webhooks.Attempt": HISTORY,
    "proofroom_webhooks.Delivery": HISTORY,
    "proofroom_webhooks.SenderLease": WORK,
    "proofroom_webhooks.Webhook": SECRETS,
    "proofroom_webhooks.WorkflowSwitch": SETTINGS,
    "sessions.Session": SECRETS,
    "socialaccount.SocialAccount": SECRETS,
    "socialaccount.SocialApp": SECRETS,
    "socialaccount.SocialToken": SECRETS,
    "usersessions.UserSession": SECRETS,
}
OWN_TIME: Final = "when the row was written here"
OWN_COUNT: Final = "counts the changes made here"
OWN_ID: Final = "a number of this database, which nothing outside of it names"
LEFT_OUT_COLUMNS: Final = {
    "content.CopyOrigin": {"id": OWN_ID, "updated_at": OWN_TIME},
    "content.Draft": {
        "id": OWN_ID,
        "base_revision_id": "the revision is there only where revisions are asked for",
    },
    "content.ModuleGroup": {"updated_at": OWN_TIME, "version": OWN_COUNT},
    "content.ModuleInstance": {"updated_at": OWN_TIME, "version": OWN_COUNT},
    "content.Post": {
        "deleted_at": "the trash stays",
        "locked_by_id": WORK,
        "locked_until": WORK,
    },
    "content.PostTerm": {"id": OWN_ID},
    "content.Provenance": {
        "id": OWN_ID,
        "principal": "the credential of an AI client, which only one installation knows",
    },
    "content.QueuedChange": {"id": OWN_ID, "draft_id": OWN_ID},
    "content.UrlPattern": {
        "changed_by_id": "the importing user makes it",
        "created_at": OWN_TIME,
        "is_pending": WORK,
        "is_removed": "one that was removed is no pattern",
        "updated_at": OWN_TIME,
        "version": OWN_COUNT,
    },
    "forms.FormDefinition": {"created_at": OWN_TIME, "updated_at": OWN_TIME, "version": OWN_COUNT},
    "media.Asset": {
        "dark_variants": MADE_AGAIN,
        "status": "its sizes are made again",
        "updated_at": OWN_TIME,
        "variants": MADE_AGAIN,
    },
    "media.MediaReference": {"id": OWN_ID},
    "media.StoredFile": {"due_at": WORK, "id": OWN_ID, "is_deleted": WORK},
    "proofroom_briefs.Brief": {
        "created_at": OWN_TIME,
        "updated_at": OWN_TIME,
        "version": OWN_COUNT,
    },
    "proofroom_menus.Menu": {"updated_at": OWN_TIME, "version": OWN_COUNT},
    "proofroom_shared_content.SharedProposal": {
        "base_version": OWN_COUNT,
        "decided_by_id": HISTORY,
        "decided_by_name": HISTORY,
        "note": HISTORY,
        "state": "only what waits is exported",
    },
    "proofroom_snippets.PostTemplate": {"created_at": OWN_TIME, "updated_at": OWN_TIME},
    "proofroom_snippets.Snippet": {
        "created_at": OWN_TIME,
        "updated_at": OWN_TIME,
        "version": OWN_COUNT,
    },
    "proofroom_taxonomies.Term": {"version": OWN_COUNT},
    "seo.Redirect": {
        "created_at": OWN_TIME,
        "hits": VISITORS,
        "updated_at": OWN_TIME,
    },
}


def columns_of(model: type[Model]) -> set[str]:
    return {field.attname for field in model._meta.concrete_fields}


def carried() -> dict[type[Model], list[str]]:
    """Return the columns in an archive, by model."""
    found = {}
    for model in apps.get_models():
        label = model._meta.label
        if model._meta.proxy:
            continue
        if label not in LEFT_OUT_TABLES and model.__module__.split(".")[0] != "tests":
            found[model] = sorted(columns_of(model) - set(LEFT_OUT_COLUMNS.get(label, ())))
    return found


def test_what_is_left_out_is_there() -> None:
    labels = {model._meta.label: model for model in apps.get_models()}
    assert set(LEFT_OUT_TABLES) | set(LEFT_OUT_COLUMNS) <= set(labels)
    assert not set(LEFT_OUT_TABLES) & set(LEFT_OUT_COLUMNS)
    for label, names in LEFT_OUT_COLUMNS.items():
        assert set(names) <= columns_of(labels[label]), label


def fill_everything() -> None:
    """Fill a site in which every exported column has a distinct value."""
    post = site.fill()
    admin = make.actor("admin")
    Asset.objects.update(
        alt_texts={"de": "Eine Tasse"},
        description="A cup on a table",
        categories=["kitchen"],
        focal_x=0.25,
        focal_y=0.75,
    )
    Asset.objects.filter(pk=make.image("line.png").pk).update(is_decorative=True)
    film, poster = store(mp4(), "film.mp4"), make.image("poster.png")
    set_poster(asset_id=film.pk, poster_id=poster.pk, actor=admin)
    set_captions(asset_id=film.pk, captions={"en": VTT}, actor=admin)
    for name, above in (("Drinks", None), ("Espresso", "Drinks")):
        parent_id = str(Term.objects.get(name=above).pk) if above else None
        create_term(
            actor=admin,
            taxonomy="topics",
            name=name,
            slug=name.lower(),
            description=f"All about {name}",
            locale="en",
            parent_id=parent_id,
            order_index=3,
        )
    create_group(
        actor=admin,
        name="short-page",
        label="Short page",
        description="A page of one text",
        post_type="page",
        modules=[{"type": "prose"}],
    )
    make.form(
        "deep",
        title="Deep",
        description="Ask",
        successMessage="Thanks",
        submitLabel="Go",
        redirectUrl="/thanks",
        confirmation={"emailField": "email", "subject": "Thanks", "text": "{{answers}}"},
    )
    brief = make.brief(
        "Guides",
        locale="de",
        section="guides",
        audience="Home baristas",
        address="du",
        readingLevel="B1",
        never=["the best"],
        protectedNames=["Nova"],
        examples=[{"before": "a", "after": "b"}],
    )
    make.changed_brief(brief, voice="Calm.", type="blog")
    make.placed(post, make.global_module("offer"), title="Only here")
    make.redirect("/gone", "https://example.org/", active=False, type=302)
    Redirect.objects.filter(from_path="/old").update(is_automatic=True)
    parent = make.post("Products", type="page")
    make.post("Team", type="page", parentId=str(parent.pk), orderIndex=4)
    Post.objects.filter(title="Products").update(
        canonical_url="https://example.org/p",
        robots_json={"index": False, "follow": False},
        jsonld_overrides={"name": "Products"},
        publish_at=timezone.now().replace(microsecond=0) + timedelta(days=3),
        unpublish_at=timezone.now().replace(microsecond=0) + timedelta(days=4),
        status="draft",
        is_placeholder=True,
    )
    Post.objects.filter(variation="B").update(variation_weight=40, variation_running=True)
    make.post("A company", type="company", customFields={"industry": "Coffee"})
    # Also of a field that is declared later; what is longer than a field allows would be refused.
    texts = [
        one for one in POST_FIELDS.values() if one.kind in ("text", "textarea") and one.is_text
    ]
    make.edited(post, {one.name: f"Brewing {one.column}"[: one.max_length] for one in texts})
    make.staged(post, {"metaDescription": "Made by an AI"}, layer=Layer.AI_REVIEW)
    Revision.objects.filter(post=post, version=2).update(
        note="Why it was done", agent_id="seo-specialist", run_id="run-1"
    )
    Provenance.objects.filter(post=post).update(
        agent_id="seo-specialist", run_id="run-1", edited_by_name="admin"
    )
    menu = Menu.objects.get()
    document = edited_menu(
        menu, name="Main menu", slug=menu.slug, locale=menu.locale, items=menu.items
    )
    propose_change(
        kind=MenuKind(),
        row_id=menu.pk,
        document=document,
        actor=make.actor("editor"),
        expected_version=None,
        expected_proposal=None,
    )
    SharedProposal.objects.update(version=3)


def rows() -> dict[str, list[tuple[Any, ...]]]:
    return {
        model._meta.label: sorted(model._default_manager.values_list(*names), key=repr)
        for model, names in carried().items()
    }


def test_every_column_comes_back() -> None:
    fill_everything()
    archive = site.export(revisions=True)
    before = rows()
    usual: list[str] = []
    for model, names in carried().items():
        label = model._meta.label
        if not before[label]:
            usual.append(label)
        if label == "content.QueuedChange":  # made from the drafts, whose marks say all of it
            continue
        fields = {field.attname: field for field in model._meta.concrete_fields}
        for name in names:
            field = fields[name]
            plain = field.get_default() if field.has_default() else None
            values = [row[names.index(name)] for row in before[label]]
            if before[label] and all(value in (plain, None, "", [], {}) for value in values):
                usual.append(f"{label}.{name}")
    assert usual == [], "the site of this test has nothing that would show whether it is carried"
    site.empty()

    site.bring(archive)

    after = rows()
    for label, found in before.items():
        assert after[label] == found, label
    assert site.export(revisions=True) == archive
