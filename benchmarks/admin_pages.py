"""Pages of the admin: what the server takes for each, and how that grows with modules and with what waits."""

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
"""A page of Django's own in the frame of this admin: session, account, navigation, a small form."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One page: milliseconds (median), those of the processor (the least), SQL statements, and its size."""

    name: str
    milliseconds: float
    processor: float
    statements: int
    kilobytes: float


def measure(post_ids: Sequence[str], editor_id: int, sizes: Sizes) -> list[Shown]:
    """The floor first. Pages take turns, so that what disturbs the machine disturbs all of them."""
    user = User.objects.get(pk=editor_id)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user)
    pages = _pages(post_ids, Actor(user=user, via="admin"), sizes)
    statements = {
        name: least_statements(lambda path=path: _get(client, path))  # type: ignore[misc]
        for name, path in pages.items()
    }
    taken: dict[str, list[float]] = {name: [] for name in pages}
    worked: dict[str, list[float]] = {name: [] for name in pages}
    lengths: dict[str, int] = {}
    for _ in range(sizes.rounds):
        for name, path in pages.items():
            begin, worked_before = time.perf_counter(), time.process_time()
            lengths[name] = len(_get(client, path))
            taken[name].append(1000 * (time.perf_counter() - begin))
            worked[name].append(1000 * (time.process_time() - worked_before))
    return [
        Shown(name, median(taken[name]), min(worked[name]), statements[name], lengths[name] / 1024)
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
    """Give the post that many modules with words in them."""

    def edit(document: PostDocument) -> PostDocument:
        for number in range(count - len(document.modules)):
            props = {"title": f"Advice {number}"}
            document, _ = document_edits.add_module(document, type="callout", props={**props})
        return document

    edit_post(post_id=post_id, actor=actor, edit=edit)


def _stage(post_id: str, actor: Actor, count: int) -> None:
    """Propose other words in as many places."""

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
