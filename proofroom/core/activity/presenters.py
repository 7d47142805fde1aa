"""Entries of the activity log as sentences, for the API, the export, the admin and the tools.

They contain no text from visitors and no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, cast

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from pydantic import Field, JsonValue, WithJsonSchema
from typing_extensions import TypedDict

from proofroom.core.actor import Actor
from proofroom.core.agent_directory import agent_name
from proofroom.core.api.answer import Person
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n import in_words
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event, Seal
from proofroom.core.outbox.events import find_kind

_SENTENCES: Final[Mapping[str, str]] = {
    "post.created": gettext_noop("created {post}"),
    "post.updated": gettext_noop("changed {post}"),
    "post.published": gettext_noop("published {post}"),
    "post.deleted": gettext_noop("moved {post} to the trash"),
    "post.publish": gettext_noop("published {post}; agents were triggered"),
    "post.approve": gettext_noop("published {n} changes to {post}"),
    "post.review.save": gettext_noop("saved {n} changes in {post} to Review"),
    "post.review.approve": gettext_noop("approved {n} changes to {post}"),
    "post.ai-review.save": gettext_noop("proposed {n} changes to {post} in AI Review"),
    "post.ai-review.approve": gettext_noop("submitted {n} changes in {post} to Review"),
    "post.create-translation": gettext_noop("created {post} as a translation"),
    "post.review.reject": gettext_noop("rejected {n} changes to {post} in Review"),
    "post.ai-review.reject": gettext_noop("rejected {n} changes to {post} in AI Review"),
    "post.review.reconsider": gettext_noop(
        "undid the rejection of {n} changes to {post} in Review"
    ),
    "post.ai-review.reconsider": gettext_noop(
        "undid the rejection of {n} changes to {post} in AI Review"
    ),
    "post.schedule-failed": gettext_noop("could not publish {post} on schedule"),
    "post.restored": gettext_noop("restored {post} from the trash"),
    "post.purged": gettext_noop("permanently deleted {post}"),
    "post.moved": gettext_noop("changed the address of {post}"),
    "post.translation-checked": gettext_noop("marked {post} as up to date"),
    "post.exported": gettext_noop("exported {post}"),
    "post.preview-link.created": gettext_noop("created a preview link for {post}"),
    "post.preview-link.revoked": gettext_noop("revoked a preview link of {post}"),
    "post.reviewer-link.created": gettext_noop("created a link for a reviewer of {post}"),
    "post.reviewer-link.revoked": gettext_noop("revoked a reviewer link of {post}"),
    "post.reviewer-advice.given": gettext_noop("gave advice on changes to {post}"),
    "comment.created": gettext_noop("commented on {post}"),
    "comment.changed": gettext_noop("changed a comment on {post}"),
    "comment.resolved": gettext_noop("resolved a comment on {post}"),
    "comment.reopened": gettext_noop("reopened a comment on {post}"),
    "comment.due": gettext_noop("reminded of a due comment on {post}"),
    "comment.deleted": gettext_noop("deleted a comment on {post}"),
    "calendar.feed-renewed": gettext_noop("renewed the address of a calendar feed"),
    "release.created": gettext_noop("created the release {thing}"),
    "release.changed": gettext_noop("renamed the release {thing}"),
    "release.deleted": gettext_noop("deleted the release {thing}"),
    "release.scheduled": gettext_noop("scheduled the release {thing}"),
    "release.unscheduled": gettext_noop("removed the time of the release {thing}"),
    "release.item-added": gettext_noop("added an item to the release {thing}"),
    "release.item-removed": gettext_noop("removed an item from the release {thing}"),
    "release.published": gettext_noop("published the release {thing}"),
    "release.undone": gettext_noop("undid the release {thing}"),
    "release.failed": gettext_noop("could not publish or undo the release {thing}"),
    "feedback.created": gettext_noop("left feedback on {post}"),
    "feedback.changed": gettext_noop("changed feedback on {post}"),
    "feedback.deleted": gettext_noop("deleted feedback on {post}"),
    "user.created": gettext_noop("created the account {account}"),
    "user.changed": gettext_noop("changed the account {account}"),
    "user.changed:role": gettext_noop("changed the role of {account} to {role}"),
    "agent.limited": gettext_noop("changed what content {thing} is limited to"),
    "role.created": gettext_noop("created the role {thing}"),
    "role.changed": gettext_noop("changed the role {thing}"),
    "role.removed": gettext_noop("deleted the role {thing}"),
    "user.logged-in": gettext_noop("logged in"),
    "user.login-failed": gettext_noop("tried to log in as {account} and failed"),
    "user.logged-out": gettext_noop("logged out"),
    "user.logged-out:all": gettext_noop("ended all sessions of {account}"),
    "user.password-reset": gettext_noop("reset their password by email"),
    "user.email-changed": gettext_noop("changed their email"),
    "user.second-factor-added": gettext_noop("added a login method: {factor}"),
    "user.second-factor-removed": gettext_noop("removed a login method: {factor}"),
    "user.second-factor-removed:all": gettext_noop(
        "removed two-factor authentication of {account}"
    ),
    "invitation.created": gettext_noop("invited {email}"),
    "invitation.accepted": gettext_noop("accepted an invitation"),
    "invitation.revoked": gettext_noop("revoked an invitation"),
    "list-view.changed": gettext_noop("changed the saved views of a list"),
    "token.created": gettext_noop("created the API token {thing}"),
    "token.limited": gettext_noop("changed what content the API token {thing} is limited to"),
    "token.revoked": gettext_noop("revoked the API token {thing}"),
    "mcp_token.created": gettext_noop("created the MCP token {thing}"),
    "mcp_token.revoked": gettext_noop("revoked the MCP token {thing}"),
    "token.used": gettext_noop("used {thing} for the first time that day"),
    "media.alt-text.proposed": gettext_noop("proposed an alt text for {thing}"),
    "media.alt-text.accepted": gettext_noop("accepted the proposed alt text of {thing}"),
    "media.alt-text.rejected": gettext_noop("rejected the proposed alt text of {thing}"),
    "media.uploaded": gettext_noop("uploaded {thing}"),
    "media.variants": gettext_noop("created the sizes of {thing}"),
    "media.variants:requested": gettext_noop("asked for new sizes of {thing}"),
    "media.variants:failed": gettext_noop("could not create the sizes of {thing}"),
    "form.submitted": gettext_noop("submitted the form {thing}"),
    "form.submission.deleted": gettext_noop("deleted a submission of the form {thing}"),
    "form.submissions.viewed": gettext_noop("viewed submissions of the form {thing}"),
    "form.submissions.exported": gettext_noop("exported the submissions of the form {thing}"),
    "agent.budget.near": gettext_noop("used most of an agent budget: {thing}"),
    "agent.budget.reached": gettext_noop("used up an agent budget: {thing}"),
    "agent.budget.set": gettext_noop("changed an agent budget: {thing}"),
    "agent.challenger.set": gettext_noop("changed the challenger of {thing}"),
    "agent.version.promoted": gettext_noop("changed the promoted version of {thing}"),
    "agent.evaluation.started": gettext_noop("started an evaluation of {thing}"),
    "agent.evaluation.ended": gettext_noop("ended an evaluation of {thing}"),
    "ai.settings.changed": gettext_noop("changed the AI settings"),
    "agent.run.created": gettext_noop("started a run of {thing}"),
    "agent.run.finished": gettext_noop("finished a run of {thing}: {status}"),
    "agent.run.cancelled": gettext_noop("cancelled a run of {thing}"),
    "agent.run.reverted": gettext_noop("undid a run of {thing}"),
    "agent.run.staged": gettext_noop("proposed the answer of a run of {thing}"),
    "agent.batch.created": gettext_noop("started runs of {thing} on several posts"),
    "agent.batch.cancelled": gettext_noop("cancelled runs of {thing} on several posts"),
    "agent.batch.reverted": gettext_noop("undid runs of {thing} on several posts"),
    "mcp.called": gettext_noop("called {thing}"),
    "mcp.called:refused": gettext_noop("called {thing}, which was rejected"),
    "mcp_client.connected": gettext_noop("connected the AI client {thing}"),
    "mcp_client.disconnected": gettext_noop("disconnected the AI client {thing}"),
    "mcp_client.limited": gettext_noop("changed what content {thing} is limited to"),
    "mcp_token.limited": gettext_noop("changed what content the MCP token {thing} is limited to"),
    "mcp_client.token-reused": gettext_noop(
        "revoked the tokens of the AI client {thing}: an old token was used again"
    ),
    "ai.provider.tested": gettext_noop("tested the connection to {thing}"),
    "webhook.created": gettext_noop("created the webhook {thing}"),
    "webhook.changed": gettext_noop("changed the webhook {thing}"),
    "webhook.deleted": gettext_noop("deleted the webhook {thing}"),
    "webhook.disabled": gettext_noop("turned off the webhook {thing}: calls to its address failed"),
    "webhook.test": gettext_noop("tested a webhook"),
    "webhook.replayed": gettext_noop("resent deliveries"),
    "workflow.test": gettext_noop("tested the workflow {thing}"),
    "chat.test": gettext_noop("tested the chat"),
    "module-group.created": gettext_noop("created the module group {thing}"),
    "module-group.updated": gettext_noop("changed the module group {thing}"),
    "module-group.deleted": gettext_noop("deleted the module group {thing}"),
    "brief.created": gettext_noop("created the editorial brief {thing}"),
    "brief.changed": gettext_noop("changed the editorial brief {thing}"),
    "brief.changed:restored": gettext_noop(
        "restored an earlier version of the editorial brief {thing}"
    ),
    "brief.deleted": gettext_noop("deleted the editorial brief {thing}"),
    "activity.exported": gettext_noop("exported the activity log"),
    "activity.pruned": gettext_noop("deleted the oldest entries of the activity log"),
    "activity.pseudonymised": gettext_noop("removed a name from the activity log"),
    "personal-data.searched": gettext_noop("searched for the data of a person"),
    "personal-data.exported": gettext_noop("exported the data of a person"),
    "personal-data.downloaded": gettext_noop("downloaded the data of a person"),
    "personal-data.searched:stopped": gettext_noop(
        "searched for the data of a person, but not to the end"
    ),
    "personal-data.exported:stopped": gettext_noop(
        "exported the data of a person, but not to the end"
    ),
    "personal-data.erased:stopped": gettext_noop("erased the data of a person, but not to the end"),
    "personal-data.erased": gettext_noop("erased the data of a person"),
}
_UNNAMED_SENTENCES: Final[Mapping[str, str]] = {
    "user.created": gettext_noop("created an account"),
    "user.changed": gettext_noop("changed an account"),
    "user.login-failed": gettext_noop("tried to log in and failed"),
    "user.second-factor-added": gettext_noop("added a login method"),
    "user.second-factor-removed": gettext_noop("removed a login method"),
    "user.logged-out": gettext_noop("logged out"),
    "form.submissions.viewed": gettext_noop("viewed submissions of forms"),
    "invitation.created": gettext_noop("invited a person"),
    "token.created": gettext_noop("created an API token"),
    "token.limited": gettext_noop("changed what content an API token is limited to"),
    "token.revoked": gettext_noop("revoked an API token"),
    "mcp_token.created": gettext_noop("created an MCP token"),
    "mcp_token.limited": gettext_noop("changed what content an MCP token is limited to"),
    "mcp_token.revoked": gettext_noop("revoked an MCP token"),
}
"""The sentences for entries whose object is unknown or hidden from the reader."""
_FACTORS: Final[Mapping[str, str]] = {
    "totp": gettext_noop("authenticator app"),
    "webauthn": gettext_noop("passkey"),
    "recovery_codes": gettext_noop("recovery codes"),
}
_SWITCH_EVENTS: Final = ("agent.switched", "workflow.switched")
_NAME_KEYS: Final = (
    *("workflowId", "filename", "agentId", "formSlug", "tool"),
    *("name", "slug", "fromPath", "id"),
)
_NAME_MAX: Final = 80
CHANNEL_LABELS: Final[Mapping[str, str]] = {
    "admin": gettext_noop("Admin"),
    "api": gettext_noop("API"),
    "mcp": gettext_noop("AI client (MCP)"),
    "agent": gettext_noop("Agent"),
    "command": gettext_noop("Command"),
    "system": gettext_noop("Automatic"),
    "site": gettext_noop("Site"),
}
"""Labels of the channels."""


def sentence_of(name: str, payload: JsonObject, who: str, post: str, account: str = "") -> str:
    """Return the sentence of an entry.

    `who`, `post` and `account` are display names; all else comes from `payload`.
    """
    if name == "content.changed":
        did, what = _text(payload.get("did")) or "changed", _text(payload.get("what")) or "content"
        words = {"who": who, "did": in_words(did), "what": in_words(what.replace("-", " "))}
        return (_("%(who)s %(did)s the %(what)s") % words + f" {_object_name(payload)}").strip()
    if name == "webhook.replayed" and payload.get("cancelled"):
        return _("%(who)s stopped resending deliveries") % {"who": who}
    if name in _SWITCH_EVENTS and payload.get("enabled"):
        return _("%(who)s turned on %(thing)s") % {"who": who, "thing": _object_name(payload)}
    if name in _SWITCH_EVENTS:
        return _("%(who)s turned off %(thing)s") % {"who": who, "thing": _object_name(payload)}
    values = _placeholders(payload, account)
    variant = _SENTENCES.get(f"{name}:{_variant(payload)}") or _SENTENCES.get(name, "")
    is_complete = all(value for key, value in values.items() if f"{{{key}}}" in variant)
    sentence = in_words(variant if is_complete else _UNNAMED_SENTENCES.get(name, variant))
    if not sentence:
        kind = find_kind(name)
        return f"{who}: {in_words(kind.label) if kind else name}"
    # "changes" and its plural are translated apart from the sentence, because some languages need
    # other forms for one change and for several.
    changes, paths = _("changes"), payload.get("paths", payload.get("changed"))
    if isinstance(paths, list) and paths:
        changes = ngettext("one change", "%(n)s changes", len(paths)) % {"n": len(paths)}
    text = sentence.replace(_("{n} changes"), changes)
    text = text.replace("{status}", _text(payload.get("status")))
    text = text.replace("{post}", post or _("a post"))
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return f"{who} {text}".strip()


def _placeholders(payload: JsonObject, account: str) -> dict[str, str]:
    """Return the placeholder values of a sentence; empty strings for unknown ones."""
    email, factor = _text(payload.get("email")), _text(payload.get("type"))
    role = _text(payload.get("roleLabel"))
    return {
        "account": quote(account) if account else "",
        "email": quote(email) if email else "",
        "factor": factor_label(factor),
        "role": quote(role) if role else "",
        "thing": _object_name(payload),
    }


def factor_label(kind: str) -> str:
    """Return the label of a second factor."""
    return in_words(_FACTORS.get(kind, kind))


def _variant(payload: JsonObject) -> str:
    """Return the key of the sentence variant within a kind of event."""
    changed = payload.get("changed")
    if isinstance(changed, list) and "role" in changed:
        return "role"
    return "refused" if payload.get("ok") is False else _text(payload.get("did"))


def channel_label(via: str, credential: str, agent_id: str, tokens: Mapping[str, str]) -> str:
    """Return the label of a channel, with the name of the token, client or agent."""
    kind, _colon, id_ = credential.partition(":")
    if kind == "token":
        return _("API token %(name)s") % {"name": tokens.get(id_, id_)}
    if kind == "mcp":
        return f"{in_words(CHANNEL_LABELS['mcp'])}: {tokens.get(id_, id_)}"
    if via == "agent" and agent_id:
        return _("Agent %(name)s") % {"name": agent_name(agent_id)}
    return in_words(CHANNEL_LABELS.get(via, via))


def quote(text: str) -> str:
    """Put a title or a name in quotation marks."""
    return _("‘%(text)s’") % {"text": text}


def _object_name(payload: JsonObject) -> str:
    for name in _NAME_KEYS:
        text = _text(payload.get(name))
        if text:
            return quote(agent_name(text) if name == "agentId" else text)
    return ""


def _text(value: Json) -> str:
    return str(value)[:_NAME_MAX] if isinstance(value, str | int) else ""


Namer = Callable[[Collection[str], Actor], Mapping[str, str]]
"""A function that returns names by id in one query, without names the actor may not view."""
name_lookups: ExtensionPoint[Namer] = ExtensionPoint()
"""Name lookups by the kind of object: `post`, `token`, `client` (an AI client) or `account`."""


def names_of(what: str, ids: Collection[str], actor: Actor) -> Mapping[str, str]:
    namer = name_lookups.get(what)
    return namer(ids, actor) if namer is not None and ids else {}


_SECRET: Final = re.compile(
    r"(?:secret|password|credential|authorization|cookie|(?:api|auth|private)[-_]?key|token)s?$",
    re.IGNORECASE,
)
_SAFE_KEYS: Final = frozenset(
    ("id", "what", "did", "enabled", "status", "scope", "layer", "formSlug", "submissionId")
)
"""Payload keys shown to readers who may not view the object itself."""
_MAX_DEPTH: Final = 20
HIDDEN: Final = "[hidden]"


class SealAnswer(TypedDict):
    """The entry's link in the chain."""

    seq: Annotated[int, Field(ge=1)]
    hash: str
    sealedAt: datetime


class EntryAnswer(TypedDict):
    """A logged action. Text from visitors and secrets are hidden."""

    id: Annotated[int, Field(ge=1)]
    uid: Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
    event: str
    label: str
    sentence: str
    createdAt: datetime
    actor: Person
    via: str
    door: str
    credential: str
    agentId: str | None
    runId: str | None
    postId: Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})] | None
    postTitle: str | None
    causeId: int | None
    private: bool
    forgottenAt: datetime | None
    payload: Annotated[
        dict[str, JsonValue], WithJsonSchema({"type": "object", "additionalProperties": {}})
    ]
    seal: SealAnswer | None


def present(events: Sequence[Event], actor: Actor) -> list[EntryAnswer]:
    """Present a page of entries with the names that the actor may view. Runs at most five queries."""
    post_ids = {str(event.post_id) for event in events if event.post_id is not None}
    # Ids without the prefixes "token:" and "mcp:".
    tokens = {event.credential[6:] for event in events if event.credential[:6] == "token:"}
    clients = {event.credential[4:] for event in events if event.credential[:4] == "mcp:"}
    posts, names = names_of("post", post_ids, actor), names_of("token", tokens, actor)
    names = {**names, **names_of("client", clients, actor)}
    accounts = names_of("account", {_account_id(event) for event in events} - {""}, actor)
    return [_entry(event, posts, names, accounts, actor) for event in events]


def _account_id(event: Event) -> str:
    """Return the id of the account that the entry is about; empty if there is none."""
    return _text(event.payload.get("id")) if event.name.startswith("user.") else ""


def _entry(
    event: Event,
    posts: Mapping[str, str],
    tokens: Mapping[str, str],
    accounts: Mapping[str, str],
    actor: Actor,
) -> EntryAnswer:
    kind = find_kind(event.name)
    is_private = kind is None or kind.is_private
    payload = present_payload(event)
    # Payloads contain titles of posts, too. They are reduced if the reader may not view the post.
    is_there = event.post_id is None or str(event.post_id) in posts
    is_readable = kind is not None and (actor.diagnoses or actor.can(kind.permission))
    if not is_readable or not (is_there or actor.can("posts.restore")):
        payload = {name: value for name, value in payload.items() if name in _SAFE_KEYS}
    post_id = None if event.post_id is None else str(event.post_id)
    title = None if post_id is None else posts.get(post_id)
    post = quote(title) if title else ""
    if post_id and not title:
        post = _("the post %(id)s") % {"id": post_id}
    seal: Seal | None = getattr(event, "seal", None)
    who = event.actor_name or (event.actor.username if event.actor else _("somebody"))
    return {
        "id": event.pk,
        "uid": str(event.uid),
        "event": event.name,
        "label": in_words(kind.label) if kind else event.name,
        "sentence": sentence_of(
            event.name, payload, who, post, accounts.get(_account_id(event), "")
        ),
        "createdAt": event.created_at,
        "actor": {"id": event.actor_id, "username": who},
        "via": event.via,
        "door": channel_label(event.via, event.credential, event.agent_id, tokens),
        "credential": event.credential,
        "agentId": event.agent_id or None,
        "runId": event.run_id or None,
        "postId": post_id,
        "postTitle": title,
        "causeId": event.cause_id,
        "private": is_private,
        "forgottenAt": event.forgotten_at,
        "payload": cast("dict[str, JsonValue]", payload),
        "seal": None
        if seal is None
        else {"seq": seal.seq, "hash": seal.hash, "sealedAt": seal.made_at},
    }


def present_payload(event: Event) -> JsonObject:
    """Return the payload for display. For private kinds only the ids of the form and the submission remain."""
    kind = find_kind(event.name)
    if kind is None or kind.is_private:
        known = ("formSlug", "submissionId")
        return {name: event.payload[name] for name in known if name in event.payload}
    return {str(name): _redact(str(name), value, 0) for name, value in event.payload.items()}


def _redact(name: str, value: Json, depth: int) -> Json:
    # Payloads may be nested to any depth; the limit bounds the recursion.
    if depth > _MAX_DEPTH or (_SECRET.search(name) and isinstance(value, str) and value):
        return HIDDEN
    if isinstance(value, Mapping):
        return {str(key): _redact(str(key), item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # Items inherit the key's name, so that a list of tokens is hidden, too.
        return [_redact(name, item, depth + 1) for item in value]
    return value
