"""Keep a newer proposal of AI Review unflagged when the agent's proposal below it is dropped out of Review."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from content.layers.marks import hands_on
from content.layers.state import LayerView, open_layers, save_draft
from content.models import Layer, Post


def keep_newer_proposals(view: LayerView, post: Post, dropped: Collection[str]) -> None:
    """`view` is Review as it was, `dropped` what has just gone out of it.

    An agent's words that nobody had edited make way for a newer proposal: that they are gone is no change that a
    person must hear of as drift. What a person had written, or edited, still is.
    """
    if view.layer != Layer.REVIEW:
        return
    words_of_agents = {path for path in dropped if _is_only_agents(view, path)}
    ai_review = open_layers(post).ai_review if words_of_agents else None
    if ai_review is None or ai_review.draft is None:
        return
    made_way = {path for path in words_of_agents if path in ai_review.drifted}
    made_way = {path for path in made_way if not _was_drifted(ai_review, path)}
    if made_way:
        settled = replace(ai_review, drifted=ai_review.drifted - made_way)
        by = ai_review.draft.updated_by_id
        save_draft(settled, post, ai_review.document, ai_review.marks, by)


def _is_only_agents(view: LayerView, path: str) -> bool:
    hands = hands_on(view.marks, path)
    return bool(hands) and all(mark.is_agents for mark in hands)


def _was_drifted(ai_review: LayerView, path: str) -> bool:
    return any(mark.drifted for mark in hands_on(ai_review.marks, path))
