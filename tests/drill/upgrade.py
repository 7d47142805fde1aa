"""Processes of two releases on one database, behind nginx, with a stream of requests."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

import httpx

from tests.commands import run_command
from tests.deployment.site import EMAIL, PASSWORD, Person, until
from tests.faults.processes import ROOT, Site
from tests.ports import free_port
from tests.receiver import Receiver

COMMIT_FILE: Final = Path(__file__).parent / "release_before.txt"
_STARTS_WITHIN: Final = 300.0
_STOPS_WITHIN: Final = 120.0
_PAUSE: Final = 0.1
_PREPARE: Final = f"""
import json, os
from proofroom.accounts.models import User
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.services.tokens import create_token
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook
from tests import make
person = User.objects.create_superuser({EMAIL!r}, {PASSWORD!r})
person.confirm_email()
admin = make.actor("admin", via="admin")
create_webhook(
    actor=admin,
    webhook=NewWebhook(name="All", url=os.environ["RECEIVER"], events=["post.published"]),
)
token = create_token(
    name="Client", permissions=permissions_of("admin"), actor=admin, user_id=person.pk, expires_at=None
)[1]
post = make.post("A post", slug="a-post", status="published")
print(json.dumps([token, str(post.pk)]))
"""
_NGINX: Final = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log stderr crit;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream web {{
        {servers}
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://web;
            proxy_set_header Host $http_host;
            proxy_read_timeout 75s;
        }}
    }}
}}
"""


def unpack_release_before(folder: Path) -> Path:
    """Unpack the files of the commit of the release before. Returns their folder."""
    commit = COMMIT_FILE.read_text().strip()
    packed = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    return folder


def migrate(root: Path, environ: Mapping[str, str], *words: str) -> None:
    """Migrate with the code of a checkout."""
    done = run_command(
        [sys.executable, "manage.py", "migrate", "--verbosity=0", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **environ},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr


@dataclass
class Stream:
    """Sends reads and writes, one after another, until the end of `running`."""

    requests: list[Callable[[], httpx.Response]]
    count: int = 0
    failures: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[Stream]:
        threads = [threading.Thread(target=self._send, args=(start,)) for start in (0, 2)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            for thread in threads:
                thread.join(90)

    def wait_for(self, requests: int) -> None:
        """Wait until that many more requests are answered."""
        target = self.count + requests
        until(f"the {target}th answer", lambda: self.count >= target, _STARTS_WITHIN)

    def require_no_failure(self) -> None:
        assert not self.failures, (len(self.failures), self.count, self.failures[:5])

    def _send(self, start: int) -> None:
        order = [*self.requests[start:], *self.requests[:start]]
        for request in cycle(order):
            if self._ended.wait(_PAUSE):
                return
            try:
                answer = request()
                if answer.status_code >= 400:
                    self.failures.append(
                        f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:300]}"
                    )
            except httpx.HTTPError as error:
                self.failures.append(repr(error))
            self.count += 1


class Upgrade:
    """A site with two web processes and a worker, first of the release before.

    `old` and `new`: processes of each release; `old[0]` also runs Redis.
    """

    def __init__(self, folder: Path, database: str, before: Path, receiver: Receiver) -> None:
        self.folder, self.database = folder, database
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        common = {
            "CMS_DATA_DIR": str(folder),
            "SECRET_KEY": "only-for-tests-" + "k" * 50,
            "SITE_URL": self.origin,
            "OUTGOING_ALLOWED_HOSTS": "127.0.0.1",
            "RECEIVER": receiver.url("/all"),
            "THROTTLE_LOGIN": "off",
        }

        def site(name: str, root: Path) -> Site:
            place = folder / name
            place.mkdir()
            return Site(place, database, root, **common)

        first = site("old-1", before)
        common["REDIS_URL"] = first.environ["REDIS_URL"]
        self.old = (first, site("old-2", before))
        self.new = (site("new-1", ROOT), site("new-2", ROOT))
        self.api = httpx.Client(base_url=self.origin, timeout=60)
        self.post = ""
        self._nginx: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Create the content, and start nginx and the processes of the release before."""
        self.old[0].start("redis")
        token, self.post = self.old[0].ask(_PREPARE)
        self.api.headers["Authorization"] = f"Bearer {token}"
        servers = (f"server 127.0.0.1:{site.port} max_fails=0;" for site in (*self.old, *self.new))
        configuration = self.folder / "nginx.conf"
        configuration.write_text(
            _NGINX.format(
                folder=self.folder,
                port=self.port,
                servers=" ".join(servers),
                user="user root;" if os.geteuid() == 0 else "",
            )
        )
        self._nginx = subprocess.Popen(["/usr/sbin/nginx", "-e", "stderr", "-c", configuration])
        for site in self.old:
            site.start("web")
        self.old[0].start("worker")
        for site in self.old:
            site.wait_for_web(_STARTS_WITHIN)

    def stream(self) -> Stream:
        """Return a stream that reads a page, lists and a post, and changes a draft."""
        post = f"/api/posts/{self.post}"
        draft = f"/api/posts/{self.create_post('Stream')}"
        titles = (f"Title {number}" for number in range(1_000_000))
        lock = threading.Lock()

        def edit() -> httpx.Response:
            with lock:
                return self.api.put(draft, json={"title": next(titles)})

        return Stream(
            [
                lambda: self.api.get("/blog/a-post"),
                lambda: self.api.get(post),
                edit,
                lambda: self.api.get("/api/posts?search=post"),
                lambda: self.api.get(f"/api/public/posts/{self.post}"),
            ]
        )

    def create_post(self, title: str) -> str:
        slug = title.lower().replace(" ", "-")
        body = {"type": "page", "locale": "en", "title": title, "slug": slug, "modules": []}
        answer = self.api.post("/api/posts", json=body)
        assert answer.status_code == 201, answer.text
        created: str = answer.json()["id"]
        return created

    def replace_worker(self) -> None:
        self.new[0].start("worker")
        ready = "celery@"
        until("a new worker", lambda: ready in self.new[0].whole_log("worker"), _STARTS_WITHIN)
        retire(self.old[0], "worker")

    def replace_web(self) -> None:
        """Start a new process before each old one stops, like a rolling update."""
        for old, new in zip(self.old, self.new, strict=True):
            new.start("web")
            new.wait_for_web(_STARTS_WITHIN)
            retire(old, "web")

    def person(self) -> Person:
        person = Person(self.origin, {})
        person.log_in()
        return person

    def stop(self) -> None:
        self.api.close()
        if self._nginx is not None:
            self._nginx.terminate()
            self._nginx.wait(20)
        for site in (*self.new, *reversed(self.old)):
            site.stop()


def retire(site: Site, name: str) -> None:
    """End a process as a supervisor does, and wait until it has finished its work."""
    process = site.running.pop(name)
    process.terminate()
    process.wait(_STOPS_WITHIN)
