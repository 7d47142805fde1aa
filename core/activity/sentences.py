"""Entries in words: who did what to which thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.events.kinds import find_kind
from core.json import Json, JsonObject

_DID: Final[Mapping[str, str]] = {
    "post.created": "made {post}",
    "post.updated": "changed {post}",
    "post.published": "published {post}",
    "post.deleted": "moved {post} to the trash",
    "post.publish": "published {post}; agents are told",
    "post.approve": "had {n} changes of {post} go live",
    "post.review.save": "saved {n} changes of {post} for Review",
    "post.review.approve": "approved {n} changes of {post}",
    "post.ai-review.save": "proposed {n} changes of {post} in AI Review",
    "post.ai-review.approve": "submitted {n} changes of {post} to Review",
    "post.create-translation": "made {post} as a translation",
    "post.review.reject": "rejected {n} changes of {post} in Review",
    "post.ai-review.reject": "rejected {n} changes of {post} in AI Review",
    "post.restored": "took {post} out of the trash",
    "post.purged": "deleted {post} for good",
    "post.moved": "moved {post} to another address",
    "post.translation-checked": "called {post} up to date",
    "post.exported": "exported {post}",
    "post.preview-link.created": "made a preview link of {post}",
    "post.preview-link.revoked": "revoked a preview link of {post}",
    "feedback.created": "put a note on {post}",
    "feedback.changed": "changed a note on {post}",
    "feedback.deleted": "deleted a note on {post}",
    "user.created": "made an account",
    "user.changed": "changed an account",
    "user.logged-in": "logged in",
    "user.logged-out": "logged out",
    "token.created": "made an API token",
    "token.revoked": "revoked an API token",
    "media.uploaded": "uploaded {thing}",
    "form.submitted": "sent the form {thing}",
    "form.submission.deleted": "deleted a submission of the form {thing}",
    "form.submissions.exported": "exported the submissions of the form {thing}",
    "agent.budget.near": "has used most of a budget of agents: {thing}",
    "agent.budget.reached": "has used up a budget of agents: {thing}",
    "agent.budget.set": "changed the budget of agents: {thing}",
    "ai.settings.changed": "changed the AI settings",
    "agent.run.created": "began a run of {thing}",
    "agent.run.finished": "ended a run of {thing}: {status}",
    "agent.run.cancelled": "cancelled a run of {thing}",
    "agent.run.reverted": "took back a run of {thing}",
    "agent.run.staged": "proposed what a run of {thing} answered",
    "agent.batch.created": "began runs of {thing} on several posts",
    "agent.batch.cancelled": "cancelled runs of {thing} on several posts",
    "agent.batch.reverted": "took back runs of {thing} on several posts",
    "mcp.called": "called {thing}",
    "webhook.created": "made the webhook {thing}",
    "webhook.changed": "changed the webhook {thing}",
    "webhook.deleted": "deleted the webhook {thing}",
    "webhook.disabled": "switched off the webhook {thing}: its address failed",
    "webhook.test": "tested a webhook",
    "webhook.replayed": "had deliveries sent again",
    "workflow.test": "tested the workflow {thing}",
    "chat.test": "tried out the chat",
    "module-group.created": "made the module group {thing}",
    "module-group.updated": "changed the module group {thing}",
    "module-group.deleted": "deleted the module group {thing}",
    "activity.exported": "exported the activity log",
    "activity.pruned": "deleted the oldest entries of the activity log",
}
_SWITCHED: Final = ("agent.switched", "workflow.switched")
_THING: Final = (
    *("workflowId", "filename", "agentId", "formSlug", "tool"),
    *("name", "slug", "fromPath", "id"),
)
_MOST: Final = 80
DOORS: Final[Mapping[str, str]] = {
    "admin": "Admin",
    "api": "API",
    "mcp": "AI client (MCP)",
    "agent": "Agent",
    "command": "Command",
    "system": "By itself",
    "site": "Site",
}
"""The doors, as people call them."""


def sentence_of(name: str, payload: JsonObject, who: str, post: str) -> str:
    """`who` and `post` are names; what an entry says of itself beyond them is in its payload."""
    if name == "content.changed":
        did, what = _text(payload.get("did")) or "changed", _text(payload.get("what")) or "content"
        return f"{who} {did} {_with_article(what)} {_thing(payload)}".strip()
    if name == "webhook.replayed" and payload.get("cancelled"):
        return f"{who} stopped sending deliveries again"
    if name in _SWITCHED:
        state = "on" if payload.get("enabled") else "off"
        return f"{who} switched {_thing(payload)} {state}"
    did = _DID.get(name, "")
    if not did:
        kind = find_kind(name)
        return f"{who}: {kind.label if kind else name}"
    number = _number(payload)
    if number == 1:
        did = did.replace("{n} changes", "one change")
    told = did.replace("{n} changes", "changes" if number is None else f"{number} changes")
    told = told.replace("{status}", _text(payload.get("status")))
    told = told.replace("{post}", post or "a post").replace("{thing}", _thing(payload))
    return f"{who} {told}".strip()


def door_of(via: str, credential: str, agent_id: str, tokens: Mapping[str, str]) -> str:
    """Through which door it came: with the name of the token, the client or the agent."""
    kind, _, id_ = credential.partition(":")
    if kind == "token":
        return f"API token {tokens.get(id_, id_)}"
    if kind == "mcp":
        return f"{DOORS['mcp']} {id_}"
    if via == "agent" and agent_id:
        return f"Agent {agent_id}"
    return DOORS.get(via, via)


def _with_article(what: str) -> str:
    return f"the {what.replace('-', ' ')}"


def _thing(payload: JsonObject) -> str:
    for name in _THING:
        text = _text(payload.get(name))
        if text:
            return f"‘{text}’"
    return ""


def _number(payload: JsonObject) -> int | None:
    paths = payload.get("paths", payload.get("changed"))
    return len(paths) if isinstance(paths, list) and paths else None


def _text(value: Json) -> str:
    return str(value)[:_MOST] if isinstance(value, str | int) else ""
