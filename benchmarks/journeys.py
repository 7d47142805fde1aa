"""`python -m benchmarks.journeys [--files]`: numbers of files and functions in typical paths through the product.

Each path runs twice in this process, with its own embedded database. The second run is counted, with warm caches and
loaded modules. Counted are the product's functions that are called, in any thread, and their files; comprehensions
and lambdas count as the enclosing function.
"""

from __future__ import annotations

import argparse
import http.server
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
_OUTSIDE: Final = ("tests", "benchmarks", ".venv", ".uv")


@dataclass(slots=True)
class Journey:
    """The functions called in one path, by file, relative to the project."""

    functions: dict[str, set[str]] = field(default_factory=dict)

    @property
    def files(self) -> int:
        return len(self.functions)

    @property
    def function_count(self) -> int:
        return sum(len(names) for names in self.functions.values())


@contextmanager
def traced() -> Iterator[Journey]:
    """Record every function of the product that is called in the block."""
    journey = Journey()
    known: dict[CodeType, bool] = {}

    def note(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event != "call" or code in known:
            return
        path = Path(code.co_filename)
        known[code] = path.is_relative_to(ROOT)
        if not known[code] or path.relative_to(ROOT).parts[0] in _OUTSIDE:
            return
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        if name == "<module>":
            return
        whole = name.split(".<locals>")[0]
        journey.functions.setdefault(str(path.relative_to(ROOT)), set()).add(whole)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield journey
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


class _Receiver(http.server.BaseHTTPRequestHandler):
    """A server that accepts every webhook."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class Ways:
    """The measured paths. Each method prepares a path and returns the function to measure."""

    def __init__(self, receiver: str) -> None:
        from django.conf import settings
        from django.test import Client

        from proofroom.accounts.models import User
        from proofroom.accounts.services.agents import ensure_agent_user
        from proofroom.core.actor import Actor
        from proofroom.webhooks.models.webhook import NewWebhook
        from proofroom.webhooks.services.webhooks import create_webhook

        allowed = settings.CMS_ENV.model_copy(update={"outgoing_allowed_hosts": ("127.0.0.0/8",)})
        settings.CMS_ENV = allowed
        settings.ALLOWED_HOSTS = ["testserver"]
        admin = User.objects.create_user("ways@example.com", None, username="ways", role="admin")
        self.person = Actor(user=admin, via="api")
        agent = ensure_agent_user(agent_id="journeys", username="journeys")
        self.program = Actor(user=agent, via="mcp")
        self.browser = Client()
        self.browser.force_login(admin)
        self.visitor = Client()
        self.post = self._published()
        create_webhook(
            actor=self.person,
            webhook=NewWebhook(name="Journeys", url=receiver, events=["post.updated"]),
        )
        self.number = 0

    def _published(self) -> Any:
        from content.posts.create import create_post
        from content.posts.publish import set_status
        from content.store import document_edits

        def edit(document: Any) -> Any:
            props = {"title": "Note"}
            return document_edits.add_module(document, type="callout", props=props)[0]

        fields = {"title": "A journey", "slug": "a-journey"}
        post = create_post(actor=self.person, type="blog", fields=fields, edit=edit)
        return set_status(post_id=post.pk, status="published", actor=self.person)

    def _next(self) -> str:
        self.number += 1
        return f"Version {self.number}"

    def _stage(self) -> None:
        from content.layers import stage
        from content.models import Layer

        title = self._next()
        stage(
            post_id=self.post.pk,
            layer=Layer.REVIEW,
            actor=self.person,
            edit=lambda document: document.with_fields({"title": title}),
        )

    def put(self) -> Callable[[], None]:
        """Return a `PUT /api/posts/:id`, from the request to the stored row and its event."""

        def go() -> None:
            answer = self.browser.put(
                f"/api/posts/{self.post.pk}",
                {"excerpt": self._next()},
                content_type="application/json",
            )
            assert answer.status_code == 200, answer.content

        return go

    def agent_run(self) -> Callable[[], None]:
        """Return an agent's run, from the worker's message to its proposal."""
        from agents_app.runs.creation import create_run
        from agents_app.runs.execution import execute_run
        from content.models import Draft

        Draft.objects.filter(post=self.post).delete()
        run = create_run(
            agent_id="seo-specialist", scope="dropdown", actor=self.person, post_id=self.post.pk
        )

        def go() -> None:
            execute_run(run.pk)
            run.refresh_from_db()
            assert run.status == "succeeded", run.error

        return go

    def approve(self) -> Callable[[], None]:
        """Return a `POST /api/posts/:id/review/approve`, from the request to the stored row and its event."""
        self._stage()
        found = self.browser.get(f"/api/posts/{self.post.pk}/changes?layer=review").json()

        def go() -> None:
            answer = self.browser.post(
                f"/api/posts/{self.post.pk}/review/approve",
                {"digest": found["digest"], "paths": ["post.title"]},
                content_type="application/json",
            )
            assert answer.status_code == 200, answer.content

        return go

    def deliver(self) -> Callable[[], None]:
        """Return the delivery of an approval to a webhook, from the worker's message to the stored response."""
        from proofroom.core import outbox
        from proofroom.core.models import Event
        from proofroom.webhooks.delivery import send_due
        from proofroom.webhooks.models import Delivery

        outbox.sweep(20)
        send_due()
        self.approve()()
        event = Event.objects.filter(name="post.updated").latest("pk")

        def go() -> None:
            outbox.dispatch(event.pk)
            send_due()
            assert Delivery.objects.filter(event=event, status="succeeded").exists()

        return go

    def page(self) -> Callable[[], None]:
        """Return the rendering of a page after a content change."""
        self.put()()
        path = type(self.post).objects.get(pk=self.post.pk).path

        def go() -> None:
            answer = self.visitor.get(path)
            assert answer.status_code == 200, answer.status_code

        return go

    def staging(self) -> Callable[[], None]:
        """Return a tool call by an AI client, below the MCP bridge: from raw arguments to the staged change."""
        from proofroom.core.tools.call import call_raw, find_tool

        tool = find_tool("save_post_ai_review")
        raw = {"postId": str(self.post.pk), "patch": {"excerpt": self._next()}}

        def go() -> None:
            call_raw(tool, self.program, raw)

        return go


NAMES: Final = {
    "put": "PUT of a post",
    "agent_run": "run of an agent",
    "approve": "approval",
    "deliver": "delivery of the approval to a webhook",
    "page": "page of the site",
    "staging": "staging by an AI client, below the bridge",
}


def measure(receiver: str) -> dict[str, Journey]:
    """Return the journeys of all paths by name. Each path runs twice, and the second run is counted."""
    ways = Ways(receiver)
    found: dict[str, Journey] = {}
    for name in NAMES:
        getattr(ways, name)()()
        go = getattr(ways, name)()
        with traced() as journey:
            go()
        found[name] = journey
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="List the files of each way.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CMS_DATA_DIR": folder, "DATABASE_URL": "", "REDIS_URL": ""}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = measure(f"http://127.0.0.1:{server.server_port}/hook")
        server.shutdown()
    print("| way | files | functions |\n|---|---:|---:|")
    for name, journey in found.items():
        print(f"| {NAMES[name]} | {journey.files} | {journey.function_count} |")
    if options.files:
        for name, journey in found.items():
            print(f"\n{NAMES[name]}")
            sizes = Counter({path: len(names) for path, names in journey.functions.items()})
            for path, count in sorted(sizes.items()):
                print(f"  {count:3} {path}")


if __name__ == "__main__":
    main()
