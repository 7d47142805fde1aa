"""The schedule of periodic tasks."""

from __future__ import annotations

from typing import Any, Final

_SECONDS: Final = {
    "core.tasks.sweep_events": 30.0,
    "core.tasks.seal_events": 10.0,
    "core.tasks.prune_activity": 86_400.0,
    "webhooks.tasks.sweep_deliveries": 10.0,
    "webhooks.tasks.prune_deliveries": 86_400.0,
    "agents_app.tasks.sweep_runs": 30.0,
    "agents_app.tasks.sweep_reactions": 30.0,
    "agents_app.tasks.keep_reactions": 3_600.0,
    "agents_app.tasks.prune_transcripts": 86_400.0,
    "content.tasks.publish_due_posts": 60.0,
    "content.tasks.sweep_decisions": 30.0,
    "content.tasks.purge_trash": 3_600.0,
    "previews.tasks.forget_old_links": 86_400.0,
    "forms.tasks.prune_submissions": 86_400.0,
    "media.tasks.sweep_variants": 30.0,
    "media.tasks.delete_files": 300.0,
    "media.tasks.check_files": 300.0,
    "analytics.tasks.add_up_events": 30.0,
    "analytics.tasks.merge_rare_figures": 86_400.0,
    "analytics.tasks.prune_events": 86_400.0,
    "mcp_bridge.tasks.prune_calls": 86_400.0,
}


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Celery's entries. Sweeps look at rows; one that waited longer than its interval is of no use."""
    return {
        name: {"task": name, "schedule": seconds, "options": {"expires": seconds}}
        for name, seconds in _SECONDS.items()
    }
