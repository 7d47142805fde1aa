"""The help page, and its section, that explains a page of the admin."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from cms_project.help.rendering import ID_PREFIX

TOPICS: Final = {
    "index": "admin/inbox#home",
    "inbox": "admin/inbox#inbox",
    "inbox-batch": "admin/inbox#many-changes",
    "inbox-like": "admin/inbox#like-changes-together",
    "notification": "admin/your-account#messages-and-notifications",
    "account": "admin/your-account",
    "sessions": "admin/your-account",
    "oauth": "how-to/authorize-ai-clients",
    "system": "how-to/monitor",
    "shared": "admin/structure#preview-history-approval",
    "content-translations": "admin/translations",
    "content-xliff": "admin/translations#translate-with-xliff",
    "site-name": "admin/editor",
    "content_post": "admin/editor",
    "content_post_changelist": "admin/lists",
    "content_post_add": "admin#write",
    "content_post_page": "admin#write",
    "content_post_tree": "admin/page-tree",
    "content_post_trash": "admin/structure#redirects-and-trash",
    "content_post_delete": "admin#trash",
    "content_post_review": "admin/review",
    "content_post_rejection": "admin/review#undo",
    "content_post_preview": "admin/variations",
    "content_post_checks": "admin/checks",
    "content_post_comments": "admin/comments",
    "file-comments": "admin/comments",
    "comments": "admin/comments",
    "content_post_steps": "admin/steps",
    "absence": "admin/steps#while-you-are-away",
    "content_post_previews": "admin/structure#preview-links",
    "content_post_translate": "admin/translations#a-translation-beside-its-source",
    "content_post_translations": "admin/variations",
    "content_post_variations": "admin/variations#trying-a-variation-on-visitors",
    "content_post_history": "admin#revisions",
    "content_post_revisions": "admin#revisions",
    "content_post_compare": "admin#revisions",
    "content_post_restore": "admin#revisions",
    "content_replacement": "admin/find-and-replace",
    "content_moduleinstance": "admin/structure#module-groups-and-global-modules",
    "content_modulegroup": "admin/structure#module-groups-and-global-modules",
    "content_urlpattern": "admin/structure#url-patterns",
    "media_asset": "admin/media-library",
    "media_asset_changelist": "admin/media-library",
    "media_asset_change": "admin/media-library#one-file",
    "media_asset_check": "admin/media-library#check-files",
    "media_asset_orphans": "admin/media-library#check-files",
    "media_asset_crop": "admin/media-library#one-file",
    "media_asset_replace": "admin/media-library#one-file",
    "media_asset_bulk": "admin/media-library#several-at-once",
    "media_asset_alt_texts": "admin/media-library#several-at-once",
    "proofroom_menus": "admin/structure#menus",
    "proofroom_snippets": "admin/snippets",
    "proofroom_taxonomies": "admin/structure#terms",
    "proofroom_briefs": "admin/editorial-briefs",
    "proofroom_disclosure": "admin/disclosure",
    "proofroom_briefs_brief_add": "how-to/write-an-editorial-brief",
    "brief": "admin/editorial-briefs#history",
    "calendar": "admin/calendar",
    "calendar-move": "admin/calendar",
    "proofroom_releases": "admin/releases",
    "proofroom_feedback": "admin#notes-on-the-site",
    "forms": "admin/structure#forms",
    "seo": "reference/seo",
    "seo_redirect": "admin/structure#redirects-and-trash",
    "seo-trace": "admin/structure#redirects-and-trash",
    "agents_app": "admin/agents-at-work",
    "agents_app_ask": "admin#ask-agents",
    "agents_app_run_start": "admin/agents-at-work#start-one-without-leaving-the-page",
    "agents_app_agentrun": "admin/agents-at-work#look-back",
    "agents_app_agentswitch": "admin/agents-at-work#agents-and-their-figures",
    "agents_app_versions": "admin/quality#champion-and-challenger",
    "agents_app_evaluation": "admin/quality#evaluate",
    "quality": "admin/quality",
    "agents_app_aisettings": "admin/agents-at-work#agents-and-their-figures",
    "agents_app_data_flows": "admin/agents-at-work#what-leaves-the-house",
    "agents_app_agentbatch": "admin#ask-agents",
    "agents_app_batch": "admin#ask-agents",
    "agents_app_bulk": "admin#ask-agents",
    "analytics": "how-to/read-the-figures",
    "analytics-experiments": "explanation/variation-tests",
    "analytics-variations": "explanation/variation-tests",
    "mcp": "how-to/connect-an-ai-client",
    "proofroom_accounts": "admin#log-in",
    "proofroom_accounts_siterole": "how-to/make-a-role",
    "proofroom_accounts_apitoken": "reference/api-authentication",
    "proofroom_accounts_deliverytoken": "reference/api-authentication",
    "proofroom_oauth": "how-to/authorize-ai-clients",
    "proofroom_core_event": "reference/activity-log",
    "proofroom_imports": "how-to/import-content",
    "proofroom_imports_export": "how-to/move-content",
    "proofroom_privacy": "privacy",
    "proofroom_webhooks": "how-to/set-up-a-webhook",
    "proofroom_webhooks_workflowswitch": "reference/workflows",
}
"""Help pages with an anchor, by the beginning of the names of admin URLs. The longest beginning counts."""


def topic_of(url_name: str) -> str | None:
    """Return the help page, and its section, for an admin URL."""
    names = [name for name in TOPICS if url_name.startswith(name)]
    return TOPICS[max(names, key=len)] if names else None


def help_url(request: HttpRequest) -> str:
    """Return the URL of the help for the page of this request, else that of the help's first page."""
    match = request.resolver_match
    topic = topic_of(match.url_name) if match is not None and match.url_name else None
    if topic is None:
        return reverse("admin:help")
    page, _, anchor = topic.partition("#")
    return reverse("admin:help-page", args=[page]) + (f"#{ID_PREFIX}{anchor}" if anchor else "")
