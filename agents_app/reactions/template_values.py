"""What placeholders and conditions of reactions find: the agent, the run, its result, and what it was about."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from content.models import Post
from content.store import iso
from core.json import JsonObject
from core.models import Event


def run_of(event: Event) -> AgentRun | None:
    """The run whose end the event tells, with its post and what began it; None where it is gone."""
    run_id = event.payload.get("id")
    rows = AgentRun.objects.select_related("post", "event")
    return rows.filter(pk=run_id).first() if isinstance(run_id, str) else None


def is_forgotten(event: Event, run: AgentRun) -> bool:
    """Whether words that led to the run must be gone: then nothing of it is told any more."""
    return event.forgotten_at is not None or (
        run.event is not None and run.event.forgotten_at is not None
    )


def values_of(run: AgentRun, agent: AgentDefinition) -> JsonObject:
    """The table is in docs/agents.md. Its event and its post are loaded with the run."""
    return {
        "agent": {"id": agent.id, "name": agent.name},
        "run": {
            "id": str(run.pk),
            "scope": run.scope,
            "url": _page_of(run),
            "createdAt": iso(run.created_at),
            "startedAt": iso(run.started_at),
            "finishedAt": iso(run.finished_at),
            "seconds": _seconds(run.started_at, run.finished_at),
        },
        "result": _result(run),
        "data": {
            "postId": str(run.post_id) if run.post_id else None,
            "scope": run.scope,
            "fieldKey": run.field_key or None,
            "event": run.event.name if run.event is not None else None,
            "formSlug": _form_slug(run),
        },
    }


def _result(run: AgentRun) -> JsonObject:
    post = run.post
    return {
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
        "post": _post(post) if post is not None else None,
    }


def _post(post: Post) -> JsonObject:
    return {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "slug": post.slug,
        "title": post.title,
        "status": post.status,
        "url": post.path,
    }


def _form_slug(run: AgentRun) -> str | None:
    slug = run.event.payload.get("formSlug") if run.event is not None else None
    return slug if isinstance(slug, str) else None


def _seconds(began: datetime | None, ended: datetime | None) -> float | None:
    if began is None or ended is None:
        return None
    return round((ended - began).total_seconds(), 3)


def _page_of(run: AgentRun) -> str:
    try:
        return str(settings.SITE_URL) + reverse("admin:agents_app_agentrun_change", args=[run.pk])
    except NoReverseMatch:  # a site without the admin
        return str(settings.SITE_URL)
