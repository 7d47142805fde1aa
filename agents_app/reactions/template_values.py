"""Values for placeholders and conditions of reactions: the agent, the run, its result, and its subject."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from content.posts.post_repository import format_time
from proofroom.core.json import JsonObject
from proofroom.core.models import Event


def run_of(event: Event) -> AgentRun | None:
    """The run whose end the event tells, with its post and what began it; None where it is gone."""
    run_id = event.payload.get("id")
    rows = AgentRun.objects.select_related("post", "event")
    return rows.filter(pk=run_id).first() if isinstance(run_id, str) else None


def is_forgotten(event: Event, run: AgentRun) -> bool:
    """Return whether words that led to the run were deleted: then nothing of it is told any more."""
    return event.forgotten_at is not None or (
        run.event is not None and run.event.forgotten_at is not None
    )


def values_of(run: AgentRun, agent: AgentDefinition) -> JsonObject:
    """The table is in docs/agents.md. Its event and its post are loaded with the run."""
    post, event = run.post, run.event
    form_slug = event.payload.get("formSlug") if event is not None else None
    site_url = str(settings.SITE_URL)
    with suppress(NoReverseMatch):  # a site without the admin
        site_url += reverse("admin:agents_app_agentrun_change", args=[run.pk])
    seconds: float | None = None
    if run.started_at is not None and run.finished_at is not None:
        seconds = round((run.finished_at - run.started_at).total_seconds(), 3)
    return {
        "agent": {"id": agent.id, "name": agent.name},
        "run": {
            "id": str(run.pk),
            "scope": run.scope,
            "url": site_url,
            "createdAt": format_time(run.created_at),
            "startedAt": format_time(run.started_at),
            "finishedAt": format_time(run.finished_at),
            "seconds": seconds,
        },
        "result": {
            "runId": str(run.pk),
            "status": run.status,
            "summary": run.summary,
            "value": run.value,
            "staged": list(run.staged),
            "error": run.error or None,
            "provider": run.provider or None,
            "model": run.model or None,
            "usage": {"inputTokens": run.input_tokens, "outputTokens": run.output_tokens},
            "cost": float(run.cost) if run.cost is not None else None,
            "slug": post.slug if post is not None else None,
            "post": None
            if post is None
            else {
                "id": str(post.pk),
                "type": post.type,
                "locale": post.locale,
                "slug": post.slug,
                "title": post.title,
                "status": post.status,
                "url": post.path,
            },
        },
        "data": {
            "postId": str(run.post_id) if run.post_id else None,
            "scope": run.scope,
            "fieldKey": run.field_key or None,
            "event": event.name if event is not None else None,
            "formSlug": form_slug if isinstance(form_slug, str) else None,
        },
    }
