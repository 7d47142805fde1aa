"""Agents and runs as the wire has them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from agents_app.batches.starting import BulkRuns
from agents_app.definitions.reading import Agent, Answering
from agents_app.definitions.schema import AgentDefinition, OpenEndedContext, ScopeEntry
from agents_app.models import AgentRun
from agents_app.runs.undo import UndoneRun
from content.store import iso
from core.json import JsonObject


def agent(definition: AgentDefinition) -> JsonObject:
    """An agent as callers may see it: no prompt, no provider, no key."""
    return {
        "id": definition.id,
        "name": definition.name,
        "description": definition.description,
        "scopes": [_scope(entry) for entry in definition.scopes],
        "openEndedContext": _open_ended(definition.open_ended_context),
    }


def agent_as_it_stands(found: Agent) -> JsonObject:
    """An agent with who would answer and what it may use: no prompt, no key."""
    definition, media = found.definition, found.media
    return {
        **agent(definition),
        "enabled": found.is_enabled,
        "definedIn": found.defined_in,
        "text": _answering(found.text),
        "media": None if media is None else _answering(media),
        "tools": list(found.tools),
        "reactions": len(definition.reactions),
        "account": {"state": found.account.state, "username": found.account.username},
        "doubts": [f"{doubt.field}: {doubt.sentence}" for doubt in found.doubts],
    }


def _answering(found: Answering) -> JsonObject:
    return {
        "provider": found.provider or None,
        "model": found.model or None,
        "problem": found.problem or None,
    }


def _scope(entry: ScopeEntry) -> JsonObject:
    wire: JsonObject = {"scope": entry.scope.value, "order": entry.order, "enabled": entry.enabled}
    for name, values in (
        ("fieldTypes", entry.field_types),
        ("fieldKeys", entry.field_keys),
        ("formSlugs", entry.form_slugs),
    ):
        if values:
            wire[name] = list(values)
    return wire


def _open_ended(rule: OpenEndedContext) -> JsonObject:
    wire: JsonObject = {"enabled": rule.enabled}
    if rule.enabled:
        given: JsonObject = {
            "label": rule.label,
            "placeholder": rule.placeholder,
            "maxChars": rule.max_chars,
        }
        wire |= {name: value for name, value in given.items() if value is not None}
    return wire


def bulk_runs(made: BulkRuns) -> JsonObject:
    """The runs on several posts, and the posts that got none."""
    ids = [row.pk for row in made.runs]
    rows = {row.pk: row for row in with_steps(AgentRun.objects.filter(pk__in=ids))}
    return {
        "batchId": str(made.batch.pk),
        "data": [run(rows[id_]) for id_ in ids],
        "rejected": [{"id": item.id, "error": item.error} for item in made.rejected],
    }


def with_steps(runs: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
    """The runs with all that `run` reads. Two queries."""
    return runs.prefetch_related("steps")


def run(row: AgentRun) -> JsonObject:
    """A run. `value` is there for runs of a field only."""
    wire: JsonObject = {
        "id": str(row.pk),
        "agentId": row.agent_id,
        "scope": row.scope,
        "postId": str(row.post_id) if row.post_id else None,
        "status": row.status,
        "createdAt": iso(row.created_at),
        "startedAt": iso(row.started_at),
        "finishedAt": iso(row.finished_at),
        "revertedAt": iso(row.reverted_at),
        "by": {"id": row.by_id, "username": row.by_name},
        "via": row.via,
        "batchId": str(row.batch_id) if row.batch_id else None,
        "retryOf": str(row.first_try_id) if row.first_try_id else None,
        "note": row.note,
        "doing": row.doing,
        "hasReadUntrusted": row.has_read_untrusted,
        "provider": row.provider or None,
        "model": row.model or None,
        "usage": {"inputTokens": row.input_tokens, "outputTokens": row.output_tokens},
        "cost": float(row.cost) if row.cost is not None else None,
        "summary": row.summary,
        "staged": list(row.staged),
        "error": row.error or None,
        "steps": [
            {
                "n": step.number,
                "kind": step.kind,
                "name": step.name,
                "ok": step.ok,
                "ms": step.milliseconds,
                "summary": step.summary,
            }
            for step in row.steps.all()
        ],
    }
    if row.scope == "field":
        wire["fieldKey"] = row.field_key
        wire["value"] = row.value
    return wire


def reverted(run_id: str, done: UndoneRun) -> JsonObject:
    """What reverting a run did, by paths."""
    return {
        "runId": str(UUID(run_id)),
        "reverted": list(done.reverted),
        "kept": list(done.kept),
        "unstaged": list(done.unstaged),
        "posts": [
            {
                "postId": str(post_id),
                "reverted": list(one.reverted),
                "kept": list(one.kept),
                "unstaged": list(one.unstaged),
            }
            for post_id, one in done.posts.items()
        ],
        "deletedPosts": [str(post_id) for post_id in done.deleted],
    }
