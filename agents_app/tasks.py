"""Celery tasks for runs, batches, provider tests and reactions."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from agents_app import ai_settings
from agents_app.batches.lifecycle import requeue_stalled_reverts, revert_batch_runs
from agents_app.evaluation.runner import EVALUATIONS
from agents_app.reactions import outcomes, tool_calls
from agents_app.runs import execution, lifecycle, retention
from proofroom.core.background_jobs.registry import register_runner
from proofroom.core.independent_steps import independent_steps
from proofroom.core.privacy.declarations import days_of

register_runner(EVALUATIONS)


@shared_task(name="agents_app.tasks.run_agent")
def run_agent(run_id: str) -> None:
    execution.execute_run(run_id)


@shared_task(name="agents_app.tasks.sweep_runs")
def sweep_runs() -> int:
    count = 0
    with independent_steps() as step:
        with step("the sweep of runs"):
            count += lifecycle.sweep_runs()
        with step("waking batches that are to be reverted"):
            count += requeue_stalled_reverts()
    return count


@shared_task(name="agents_app.tasks.revert_batch")
def revert_batch(batch_id: str) -> None:
    revert_batch_runs(UUID(batch_id))


@shared_task(name="agents_app.tasks.test_provider")
def test_provider(provider: str) -> None:
    ai_settings.run_connection_test(provider)


@shared_task(name="agents_app.tasks.prune_transcripts")
def prune_transcripts() -> int:
    """Delete messages of runs older than `AGENT_TRANSCRIPT_DAYS`."""
    return retention.prune_transcripts(days=days_of("agent-transcripts"))


@shared_task(name="agents_app.tasks.call_reaction")
def call_reaction(reaction_id: int) -> None:
    tool_calls.call_reaction_tool(reaction_id)


@shared_task(name="agents_app.tasks.sweep_reactions")
def sweep_reactions() -> int:
    return tool_calls.sweep_reactions()


@shared_task(name="agents_app.tasks.keep_reactions")
def keep_reactions() -> int:
    return outcomes.copy_delivery_outcomes()
