"""Entries in words: who did what to which thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from proofroom.core.i18n import in_words
from proofroom.core.json import Json, JsonObject
from proofroom.core.outbox.event_kinds import find_kind

_DID: Final[Mapping[str, str]] = {
    "post.created": gettext_noop("made {post}"),
    "post.updated": gettext_noop("changed {post}"),
    "post.published": gettext_noop("published {post}"),
    "post.deleted": gettext_noop("moved {post} to the trash"),
    "post.publish": gettext_noop("published {post}; agents are told"),
    "post.approve": gettext_noop("had {n} changes of {post} go live"),
    "post.review.save": gettext_noop("saved {n} changes of {post} for Review"),
    "post.review.approve": gettext_noop("approved {n} changes of {post}"),
    "post.ai-review.save": gettext_noop("proposed {n} changes of {post} in AI Review"),
    "post.ai-review.approve": gettext_noop("submitted {n} changes of {post} to Review"),
    "post.create-translation": gettext_noop("made {post} as a translation"),
    "post.review.reject": gettext_noop("rejected {n} changes of {post} in Review"),
    "post.ai-review.reject": gettext_noop("rejected {n} changes of {post} in AI Review"),
    "post.review.reconsider": gettext_noop(
        "took back a rejection of {n} changes of {post} in Review"
    ),
    "post.ai-review.reconsider": gettext_noop(
        "took back a rejection of {n} changes of {post} in AI Review"
    ),
    "post.restored": gettext_noop("took {post} out of the trash"),
    "post.purged": gettext_noop("deleted {post} for good"),
    "post.moved": gettext_noop("moved {post} to another address"),
    "post.translation-checked": gettext_noop("called {post} up to date"),
    "post.exported": gettext_noop("exported {post}"),
    "post.preview-link.created": gettext_noop("made a preview link of {post}"),
    "post.preview-link.revoked": gettext_noop("revoked a preview link of {post}"),
    "feedback.created": gettext_noop("put a note on {post}"),
    "feedback.changed": gettext_noop("changed a note on {post}"),
    "feedback.deleted": gettext_noop("deleted a note on {post}"),
    "user.created": gettext_noop("made an account"),
    "user.changed": gettext_noop("changed an account"),
    "user.logged-in": gettext_noop("logged in"),
    "user.logged-out": gettext_noop("logged out"),
    "token.created": gettext_noop("made an API token"),
    "token.revoked": gettext_noop("revoked an API token"),
    "media.uploaded": gettext_noop("uploaded {thing}"),
    "form.submitted": gettext_noop("sent the form {thing}"),
    "form.submission.deleted": gettext_noop("deleted a submission of the form {thing}"),
    "form.submissions.exported": gettext_noop("exported the submissions of the form {thing}"),
    "agent.budget.near": gettext_noop("has used most of a budget of agents: {thing}"),
    "agent.budget.reached": gettext_noop("has used up a budget of agents: {thing}"),
    "agent.budget.set": gettext_noop("changed the budget of agents: {thing}"),
    "ai.settings.changed": gettext_noop("changed the AI settings"),
    "agent.run.created": gettext_noop("began a run of {thing}"),
    "agent.run.finished": gettext_noop("ended a run of {thing}: {status}"),
    "agent.run.cancelled": gettext_noop("cancelled a run of {thing}"),
    "agent.run.reverted": gettext_noop("took back a run of {thing}"),
    "agent.run.staged": gettext_noop("proposed what a run of {thing} answered"),
    "agent.batch.created": gettext_noop("began runs of {thing} on several posts"),
    "agent.batch.cancelled": gettext_noop("cancelled runs of {thing} on several posts"),
    "agent.batch.reverted": gettext_noop("took back runs of {thing} on several posts"),
    "mcp.called": gettext_noop("called {thing}"),
    "ai.provider.tested": gettext_noop("tested the connection to {thing}"),
    "webhook.created": gettext_noop("made the webhook {thing}"),
    "webhook.changed": gettext_noop("changed the webhook {thing}"),
    "webhook.deleted": gettext_noop("deleted the webhook {thing}"),
    "webhook.disabled": gettext_noop("switched off the webhook {thing}: its address failed"),
    "webhook.test": gettext_noop("tested a webhook"),
    "webhook.replayed": gettext_noop("had deliveries sent again"),
    "workflow.test": gettext_noop("tested the workflow {thing}"),
    "chat.test": gettext_noop("tried out the chat"),
    "module-group.created": gettext_noop("made the module group {thing}"),
    "module-group.updated": gettext_noop("changed the module group {thing}"),
    "module-group.deleted": gettext_noop("deleted the module group {thing}"),
    "activity.exported": gettext_noop("exported the activity log"),
    "activity.pruned": gettext_noop("deleted the oldest entries of the activity log"),
}
_SWITCHED: Final = ("agent.switched", "workflow.switched")
_THING: Final = (
    *("workflowId", "filename", "agentId", "formSlug", "tool"),
    *("name", "slug", "fromPath", "id"),
)
_MOST: Final = 80
CHANNEL_LABELS: Final[Mapping[str, str]] = {
    "admin": gettext_noop("Admin"),
    "api": gettext_noop("API"),
    "mcp": gettext_noop("AI client (MCP)"),
    "agent": gettext_noop("Agent"),
    "command": gettext_noop("Command"),
    "system": gettext_noop("By itself"),
    "site": gettext_noop("Site"),
}
"""The doors, as people call them."""


def sentence_of(name: str, payload: JsonObject, who: str, post: str) -> str:
    """`who` and `post` are names; what an entry says of itself beyond them is in its payload."""
    if name == "content.changed":
        return _changed(payload, who)
    if name == "webhook.replayed" and payload.get("cancelled"):
        return _("%(who)s stopped sending deliveries again") % {"who": who}
    if name in _SWITCHED and payload.get("enabled"):
        return _("%(who)s switched %(thing)s on") % {"who": who, "thing": _thing(payload)}
    if name in _SWITCHED:
        return _("%(who)s switched %(thing)s off") % {"who": who, "thing": _thing(payload)}
    did = in_words(_DID.get(name, ""))
    if not did:
        kind = find_kind(name)
        return f"{who}: {in_words(kind.label) if kind else name}"
    # Languages have the words for one and for many changes as their sentences above need them.
    number = _number(payload)
    changes = (
        _("changes")
        if number is None
        else ngettext("one change", "%(n)s changes", number) % {"n": number}
    )
    told = did.replace(_("{n} changes"), changes)
    told = told.replace("{status}", _text(payload.get("status")))
    told = told.replace("{post}", post or _("a post")).replace("{thing}", _thing(payload))
    return f"{who} {told}".strip()


def channel_label(via: str, credential: str, agent_id: str, tokens: Mapping[str, str]) -> str:
    """Through which door it came: with the name of the token, the client or the agent."""
    kind, _colon, id_ = credential.partition(":")
    if kind == "token":
        return _("API token %(name)s") % {"name": tokens.get(id_, id_)}
    if kind == "mcp":
        return f"{in_words(CHANNEL_LABELS['mcp'])} {id_}"
    if via == "agent" and agent_id:
        return _("Agent %(name)s") % {"name": agent_id}
    return in_words(CHANNEL_LABELS.get(via, via))


def _changed(payload: JsonObject, who: str) -> str:
    did, what = _text(payload.get("did")) or "changed", _text(payload.get("what")) or "content"
    words = {"who": who, "did": in_words(did), "what": in_words(what.replace("-", " "))}
    return (_("%(who)s %(did)s the %(what)s") % words + f" {_thing(payload)}").strip()


def quote(text: str) -> str:
    """A title or a name within a sentence."""
    return _("‘%(text)s’") % {"text": text}


def _thing(payload: JsonObject) -> str:
    for name in _THING:
        text = _text(payload.get(name))
        if text:
            return quote(text)
    return ""


def _number(payload: JsonObject) -> int | None:
    paths = payload.get("paths", payload.get("changed"))
    return len(paths) if isinstance(paths, list) and paths else None


def _text(value: Json) -> str:
    return str(value)[:_MOST] if isinstance(value, str | int) else ""
