"""Approval of fifty changed paths of one post, in one transaction."""

from __future__ import annotations

import time
from statistics import median

from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.document import PostDocument
from content.layers import approve, digest_of, open_layers, stage
from content.models import Layer, Post
from content.posts import document_edits
from proofroom.accounts.models import User
from proofroom.core.actor import Actor

PATHS = 50
TIMES = 5


def measure(post_ids: list[str], editor_id: int) -> tuple[float, int]:
    """Milliseconds of the service's call (median of five posts), and its SQL statements."""
    actor = Actor(user=User.objects.get(pk=editor_id), via="api")
    taken, statements = [], 0
    for post_id in post_ids[:TIMES]:
        stage(post_id=post_id, layer=Layer.REVIEW, actor=actor, edit=_change)
        view = open_layers(Post.objects.get(pk=post_id)).review
        assert len(view.changes) == PATHS, len(view.changes)
        with CaptureQueriesContext(connection) as captured:
            begin = time.perf_counter()
            approve(post_id=post_id, actor=actor, digest=digest_of(view.changes))
            taken.append(1000 * (time.perf_counter() - begin))
        statements = len(captured)
    return median(taken), statements


def _change(document: PostDocument) -> PostDocument:
    """Two fields and 48 new modules: each of them one path."""
    document = document.with_fields({"excerpt": "Changed.", "metaTitle": "Changed."})
    for number in range(PATHS - 2):
        document, _ = document_edits.add_module(
            document, type="callout", props={"title": f"No. {number}"}
        )
    return document
