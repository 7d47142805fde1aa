"""Admin pages: the cost of each, and how it grows with the number of modules and staged changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from django.test import Client

from benchmarks.report import Report
from benchmarks.sizes import Sizes
from benchmarks.statements import least_statements
from content.document.document import PostDocument
from content.layers import stage
from content.models import Layer
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.accounts.models import User
from proofroom.core.actor import Actor

FLOOR: Final = "/admin/password_change/"
"""A page of Django in the frame of this admin: session, account, navigation, and a small form."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The result for a page: milliseconds (median), CPU milliseconds (minimum), SQL statements, and kB of HTML."""

    name: str
    milliseconds: float
    processor: float
    statements: int
    kilobytes: float


def measure(post_ids: Sequence[str], editor_id: int, sizes: Sizes) -> list[Shown]:
    """Measure the pages, the floor first. They take turns, so that disturbances of the machine affect all of them."""
    user = User.objects.get(pk=editor_id)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user)
    pages = _pages(post_ids, Actor(user=user, via="admin"), sizes)
    statements = {
        name: least_statements(lambda path=path: _get(client, path))  # type: ignore[misc]
        for name, path in pages.items()
    }
    times: dict[str, list[float]] = {name: [] for name in pages}
    cpu_times: dict[str, list[float]] = {name: [] for name in pages}
    lengths: dict[str, int] = {}
    for _ in range(sizes.rounds):
        for name, path in pages.items():
            begin, worked_before = time.perf_counter(), time.process_time()
            lengths[name] = len(_get(client, path))
            times[name].append(1000 * (time.perf_counter() - begin))
            # The minimum of CPU time: other processes can only add to it.
            cpu_times[name].append(1000 * (time.process_time() - worked_before))
    return [
        Shown(
            name, median(times[name]), min(cpu_times[name]), statements[name], lengths[name] / 1024
        )
        for name in pages
    ]


def _get(client: Client, path: str) -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content


def _pages(post_ids: Sequence[str], actor: Actor, sizes: Sizes) -> dict[str, str]:
    found = {
        "floor: a page of Django's": FLOOR,
        "home": "/admin/",
        "inbox": "/admin/inbox/",
        "posts": "/admin/content/post/",
        "translations": "/admin/content/translations/",
        "media": "/admin/media/asset/",
    }
    ids = iter(post_ids)
    for count in sizes.admin_modules:
        post_id = next(ids)
        _fill(post_id, actor, count)
        found[f"editor, {count} modules"] = f"/admin/content/post/{post_id}/change/"
    for count in sizes.admin_changes:
        post_id = next(ids)
        _fill(post_id, actor, count)
        _stage(post_id, actor, count)
        found[f"review, {count} changes"] = (
            f"/admin/content/post/{post_id}/review/?layer={Layer.REVIEW}"
        )
    return found


def _fill(post_id: str, actor: Actor, count: int) -> None:
    """Fill the post up to `count` modules with text."""

    def edit(document: PostDocument) -> PostDocument:
        for number in range(count - len(document.modules)):
            props = {"title": f"Advice {number}"}
            document, _ = document_edits.add_module(document, type="callout", props={**props})
        return document

    edit_post(post_id=post_id, actor=actor, edit=edit)


def _stage(post_id: str, actor: Actor, count: int) -> None:
    """Stage a new text for each callout of the post."""

    def edit(document: PostDocument) -> PostDocument:
        for module in [one for one in document.modules if one.type == "callout"]:
            props = {"title": f"{module.props['title']}, at 94 °C and in 10 minutes"}
            document = document_edits.update_module(document, module.id, props={**props})
        return document

    stage(post_id=post_id, layer=Layer.REVIEW, actor=actor, edit=edit)


def show(found: Sequence[Shown], report: Report) -> None:
    floor, *pages = found
    for page in pages:
        report.ratios[page.name] = page.processor / floor.processor
    for page in found:
        report.statements[page.name] = page.statements
    report.show_table(
        ("page", "ms", "CPU ms", "of the floor", "SQL", "HTML kB"),
        [
            (
                one.name, f"{one.milliseconds:.0f}", f"{one.processor:.1f}",
                f"{one.processor / floor.processor:.1f}", str(one.statements),
                f"{one.kilobytes:.0f}",
            )
            for one in found
        ],
    )  # fmt: skip
