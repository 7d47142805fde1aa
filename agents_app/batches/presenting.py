"""Batches as the wire has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agents_app.batches.finding import BatchProgress, PostResult
from agents_app.models import AgentBatch, RunStatus
from content.store import iso
from core.json import Json, JsonObject

_COUNTS = {
    RunStatus.QUEUED: "queued",
    RunStatus.RUNNING: "running",
    RunStatus.SUCCEEDED: "succeeded",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
    RunStatus.TIMED_OUT: "timedOut",
}


def batch_in_short(batch: AgentBatch, progress: BatchProgress) -> JsonObject:
    """A batch of a list."""
    counts: JsonObject = {
        name: progress.by_status.get(status, 0) for status, name in _COUNTS.items()
    }
    return {
        "id": str(batch.pk),
        "agentId": batch.agent_id,
        "by": {"id": batch.by_id, "username": batch.by_name},
        "createdAt": iso(batch.created_at),
        "cancelledAt": iso(batch.cancelled_at),
        "isFinished": progress.is_finished,
        "progress": {"total": progress.total, "finished": progress.finished, **counts},
        "usage": {"inputTokens": progress.input_tokens, "outputTokens": progress.output_tokens},
        "cost": float(progress.cost) if progress.cost is not None else None,
        "estimate": batch.estimate or None,
        "revert": _revert(batch),
    }


def batch_in_full(batch: AgentBatch, progress: BatchProgress) -> JsonObject:
    """A batch with what came of each post."""
    return {
        **batch_in_short(batch, progress),
        "rejected": batch.rejected,
        "results": [_result(result) for result in progress.results],
        "reverted": [
            {"runId": run_id, **_undone(cast("Mapping[str, Json]", undone))}
            for run_id, undone in batch.reverted.items()
        ],
    }


def _revert(batch: AgentBatch) -> Json:
    if batch.revert_asked_at is None:
        return None
    return {
        "askedAt": iso(batch.revert_asked_at),
        "finishedAt": iso(batch.reverted_at),
        "runs": len(batch.reverted),
    }


def _undone(undone: Mapping[str, Json]) -> JsonObject:
    return {
        "reverted": undone.get("reverted", []),
        "kept": undone.get("kept", []),
        "unstaged": undone.get("unstaged", []),
        "error": undone.get("error") or None,
    }


def _result(result: PostResult) -> JsonObject:
    return {
        "postId": str(result.post_id) if result.post_id else None,
        "title": result.title,
        "runId": str(result.run_id),
        "status": result.status,
        "staged": result.staged,
        "summary": result.summary,
        "error": result.error or None,
        "doing": result.doing,
        "tries": result.tries,
    }
