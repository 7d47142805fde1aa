"""The settings of the OpenAPI document."""

from __future__ import annotations

from typing import Any, Final

_DESCRIPTION: Final = """\
One service, two APIs. The **delivery API** (`/api/public/…`) answers published content to anybody. The **management
API** needs a session (`POST /api/auth/login`) or an API token (`Authorization: Bearer …`). Under a session, unsafe
methods also send the cookie `csrftoken` in the header `X-CSRFToken`.

**Lists** answer `{data, meta}`; `page` is 1-based, `per_page` 20 and at most 100. A page past the last has no rows.

**Errors** answer `{error, code, details}`: a sentence for a person, a word for a machine, and sentences by the path
of the field. What is absent and what the caller may not see answer the same 404.

**Bodies** are JSON. An unknown key is 422 on that key; a key that only a GET answers is ignored, so that what was
read can be put back. What is absent in a `PUT` stays as it is.

**Versions**: a `PUT` may carry the `version` of the last read, or `If-Match` with its ETag; where something else was
written since it is 409 and nothing is written.

**Rates** are answered in `X-RateLimit-Limit`, `-Remaining` and `-Reset`; beyond them 429 with `Retry-After`.
"""
_TAGS: Final = {
    "posts": "Posts and their modules, what is staged for them, and what they were.",
    "public": "What frontends read and send without an account.",
    "auth": "Log in, log out, who am I.",
    "agents": "Agents, and the ways to run them.",
    "agent-runs": "What agents did.",
    "agent-batches": "One agent on many posts: its progress, and the result for each.",
    "agent-budgets": "What agents may use in a day and in a month.",
    "agent-usage": "What agents used, by day.",
    "quality": "What people decided on the proposals of agents and AI clients.",
    "evaluations": "Another model, prompt version or brief compared with the present version of an agent.",
    "ai-settings": "Which providers and models answer where an agent names none.",
    "rehearsals": "What an event or an agent would start on a post.",
    "settings": "Settings of the site, and what follows from them.",
    "xliff": "Texts of posts for translators.",
    "modules": "Module definitions and global modules.",
    "post-types": "What posts there are.",
    "module-groups": "Templates of modules for new posts.",
    "media": "Images and files.",
    "menus": "Menus.",
    "snippets": "Snippets: saved modules and pieces of text.",
    "post-templates": "Templates of posts.",
    "briefs": "Editorial briefs: how agents and AI clients write.",
    "taxonomies": "Taxonomies and their terms.",
    "taxonomy-terms": "Terms of taxonomies.",
    "forms": "What visitors send by forms.",
    "forms-definitions": "The forms, as frontends render them.",
    "redirects": "Redirects.",
    "url-patterns": "How the addresses of the site are made.",
    "previews": "Links that show what is not yet live.",
    "preview-links": "Links that show what is not yet live.",
    "notifications": "The caller's notifications.",
    "comments": "Talking about posts and files: threads, mentions, assignments.",
    "calendar": "What happens when: publications, expiries, releases, due dates.",
    "releases": "Sets of changes that go live together.",
    "feedbacks": "Notes that people put on a page.",
    "personal-data": "The stored data about a person: search, export, erasure and retention.",
    "database": "Changes over all content.",
    "analytics": "Views and clicks.",
    "seo": "The sitemap and canonical addresses.",
    "webhooks": "Calls to other systems when something happens.",
    "webhook-deliveries": "What was sent, and what came back.",
    "workflows": "Files that have another system told, in words of their own.",
    "activity": "Who did what, when and through which door.",
    "tokens": "API tokens.",
    "mcp-calls": "What AI clients called, and how it ended.",
    "mcp-tokens": "What AI clients open the MCP server with.",
    "users": "Accounts.",
    "roles": "What each role may do, and the roles that the site makes.",
    "invitations": "Invitations to make an account.",
    "schema": "This description.",
}
SPECTACULAR_SETTINGS: Final[dict[str, Any]] = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Proofroom",
    "VERSION": "1",  # of the interface; the version of the software is not published
    "DESCRIPTION": _DESCRIPTION,
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "TAGS": [{"name": name, "description": text} for name, text in _TAGS.items()],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "PostStatus": "content.models.Status.values",
        "NewPostStatus": ["draft", "published"],
        "LiveLayer": ["source"],
        "AnyLayer": ["source", "review", "ai-review"],
        "StagedLayer": "content.presenters.layers.STAGED_LAYERS",
        "ChangeKind": "content.presenters.layers.KINDS",
        "Via": "content.presenters.layers.VIAS",
        "DeliveryStatus": "proofroom.webhooks.models.DeliveryStatus.values",
        "EvaluationState": "agents_app.evaluation.answers.STATES",
        "QuestionState": "agents_app.evaluation.answers.QUESTION_STATES",
        "ProposerKind": "agents_app.quality.decisions.KINDS",
        "RunStatus": "agents_app.models.RunStatus.values",
        "TextProvider": "agents_app.ai_settings.TEXT_PROVIDERS",
        "MediaProvider": "agents_app.ai_settings.MEDIA_PROVIDERS",
        "FallbackProvider": "agents_app.ai_settings.FALLBACK_PROVIDERS",
        "PersonalDataKind": "forms.masking.PERSONAL_DATA_KINDS",
        "AgentScope": "agents_app.presenters.SCOPES",
        "AgentAccountState": "agents_app.agent_status.ACCOUNT_STATES",
        "InvitationState": "proofroom.accounts.api.invitations.INVITATION_STATES",
        "TokenState": "proofroom.accounts.token_fields.TOKEN_STATES",
        "TokenKind": "proofroom.accounts.token_fields.TOKEN_KINDS",
        "FormFieldType": "forms.fields.FIELD_TYPES",
        "ReleaseItemKind": "proofroom_apps.releases.kinds.KINDS",
        "NotificationKind": "proofroom.notifications.notification_types.Category.values",
        "PassageState": ["found", "removed"],
        "StepState": ["waiting", "open", "done"],
        "StepKind": ["role", "person", "agent", "guest"],
        "CommentStatus": "proofroom_apps.comments.models.CommentStatus.values",
        "FeedbackStatus": "proofroom_apps.feedback.models.FeedbackStatus.values",
        "PersonalDataAction": "proofroom_apps.privacy.models.RequestAction.values",
        "FeedbackCategory": "proofroom_apps.feedback.models.FeedbackCategory.values",
        "RedirectType": [(301, 301), (302, 302)],
        "MediaStatus": "media.models.AssetStatus.values",
        "MediaLayer": ["live", "review", "ai-review"],
        "ResolvedType": ["post", "redirect"],
        "MenuItemType": ["custom", "post"],
        "ModuleScope": "content.api.common_answers.SCOPES",
        "PeriodEnum": ["day", "month"],
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "proofroom.core.api.schema.finish",
        "proofroom.core.api.schema_examples.add_examples",
    ],
}
