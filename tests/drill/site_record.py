"""Content of a running site, and everything that it answers, to compare it before a backup and after its restore."""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from PIL import Image

from tests.deployment.site import Person
from tests.receiver import Receiver

RECEIVER_PATH: Final = "/hook"
WEBHOOK_SECRET: Final = "signs-what-this-webhook-gets"  # of a test's webhook
APP_SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"  # of a test's authenticator app
WITH_APP: Final = "translator@example.com"
"""The account with an authenticator app, whose secret the database has encrypted."""
ADD_APP: Final = f"""
from allauth.mfa.totp.internal.auth import TOTP
from proofroom.accounts.models import User
TOTP.activate(User.objects.get(email={WITH_APP!r}), {APP_SECRET!r})
"""
"""For the site's shell."""
WAIT_SECONDS: Final = 120.0
_Found = TypeVar("_Found")


def until(what: str, look: Callable[[], _Found | None], seconds: float = WAIT_SECONDS) -> _Found:
    """Return the result of a function, after waiting until it is true."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        time.sleep(0.2)
    return found


def picture(number: int, kind: str = "PNG") -> bytes:
    """Return a picture that no other number has."""
    out = BytesIO()
    colour = (number * 37 % 256, number * 101 % 256, number % 256)
    Image.new("RGB", (900, 20), colour).save(out, kind)
    return out.getvalue()


@dataclass
class SampleSite:
    """A site with sample content. `post_id`: a published post with a picture."""

    origin: str
    password: str
    has_worker: bool
    post_id: str = ""
    token: str = ""
    preview: str = ""
    proposed: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    def person(self, **body: str) -> Person:
        """Log in as the admin, or as another account."""
        person = Person(self.origin, {"Origin": self.origin})
        credentials = {"email": "admin@example.com", "password": self.password, **body}
        person.send("POST", "/api/auth/login", json=credentials)
        return person

    def program(self) -> httpx.Client:
        """Return a client with the API token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.origin, headers=headers, timeout=60)

    def fill(self, receiver: Receiver) -> None:
        """Add a post with a picture, a form with a submission, a webhook, a token and a preview link."""
        person = self.person()
        self.cookies = person.cookies()
        asset = upload(person, 0)
        body = {"type": "blog", "title": "Before", "slug": "before", "status": "published"}
        post = person.send("POST", "/api/posts", json={**body, "featuredMediaId": asset})
        self.post_id = post["id"]
        fields = [{"name": "message", "label": "Message", "type": "textarea"}]
        form = {"slug": "drill", "locale": "en", "title": "Write to us", "fields": fields}
        person.send("POST", "/api/forms-definitions", json=form)
        person.send("POST", "/api/forms/drill/submit?locale=en", json={"message": "Hello"})
        permissions = person.send("GET", "/api/auth/me")["permissions"]
        token = {"name": "A program", "permissions": permissions}
        self.token = person.send("POST", "/api/tokens", json=token)["token"]
        link = person.send(
            "POST", f"/api/posts/{self.post_id}/preview-links", json={"layer": "review"}
        )
        self.preview = _path(link["url"])
        hook = {"name": "Search", "url": receiver.url(RECEIVER_PATH), "secret": WEBHOOK_SECRET}
        person.send("POST", "/api/webhooks", json={**hook, "events": ["post.published"]})
        if self.has_worker:
            with self.program() as program:
                until("all variants", lambda: are_ready(program))
                until("all events told", lambda: is_quiet(program))

    def propose(self) -> None:
        """Stage a new title in Review."""
        self.proposed = f"Approved after restore {time.monotonic_ns()}"
        url = f"/api/posts/{self.post_id}/review"
        self.person().send("PUT", url, json={"title": self.proposed})

    def list_paths(self) -> None:
        """Note the addresses of all pages, of what the API has of the content, and of all files.

        Without the accounts, which have the time of the last login.
        """
        with self.program() as program:
            sitemap = program.get("/sitemap.xml").text
            pages = [_path(found) for found in re.findall(r"<loc>([^<]+)</loc>", sitemap)]
            posts = [row["id"] for row in _rows(program, "/api/posts")]
            files = _rows(program, "/api/media")
        assert self.post_id in posts
        self.paths = [
            *("/llms.txt", "/robots.txt", self.preview, *pages),
            *("/api/roles", "/api/webhooks", "/api/menus", "/api/redirects"),
            *("/api/forms-definitions", "/api/forms/drill/submissions", "/api/modules/global"),
            *("/api/taxonomies", "/api/module-groups", "/api/ai-settings", "/api/agents"),
            *(f"/api/posts/{id_}{end}" for id_ in posts
              for end in ("", "/revisions", "/changes?layer=review", "/changes?layer=ai-review", "/provenance")),
            *(f"/api/media/{row['id']}{end}" for row in files for end in ("", "/where-used")),
            *(_path(url) for row in files for url in (row["url"], *row["variants"].values())),
        ]  # fmt: skip

    def read(self) -> dict[str, str]:
        """Return the digest of each answer by its address."""
        found = {}
        with httpx.Client(base_url=self.origin, timeout=60) as visitor, self.program() as program:
            for path in self.paths:
                answer = (program if path.startswith("/api/") else visitor).get(path)
                is_variant = not self.has_worker and path.endswith(".webp")
                assert answer.status_code == 200 or is_variant, (path, answer.status_code)
                found[path] = hashlib.sha256(answer.content).hexdigest()
        return found

    def use_restored(self, receiver: Receiver) -> None:
        """Log in with each kind of credential, and approve the pending change. Its webhook must be signed."""
        with httpx.Client(base_url=self.origin, cookies=self.cookies, timeout=60) as browser:
            assert browser.get("/api/auth/me").json()["email"] == "admin@example.com"
        step = int(time.time()) // 30
        code = str(format_hotp_value(hotp_value(APP_SECRET, step)))
        self.person(email=WITH_APP, code=code)
        person = self.person()
        before = len(receiver.at(RECEIVER_PATH))
        url = f"/api/posts/{self.post_id}"
        digest = person.send("GET", f"{url}/changes?layer=review")["digest"]
        person.send("POST", f"{url}/review/approve", json={"digest": digest})
        page = person.send("GET", f"/api/public/posts/{self.post_id}")["url"]
        assert self.proposed in person.http.get(page).text
        person.send("PUT", url, json={"status": "draft"})
        person.send("PUT", url, json={"status": "published"})
        if self.has_worker:
            for seen in receiver.wait(before + 1, RECEIVER_PATH, WAIT_SECONDS)[before:]:
                made = hmac.new(WEBHOOK_SECRET.encode(), seen.body, hashlib.sha256).hexdigest()
                assert seen.headers["x-hub-signature-256"] == f"sha256={made}"

    def written_titles(self) -> list[str]:
        """Return the titles of the posts of a `Writer` in their order."""
        with self.program() as program:
            rows = _rows(program, "/api/posts")
        titles = [row["title"] for row in rows if row["title"].startswith(Writer.TITLE)]
        return sorted(titles, key=lambda title: int(title.removeprefix(Writer.TITLE)))


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _rows(program: httpx.Client, path: str) -> list[Any]:
    rows: list[Any] = []
    page = 1
    while True:
        answer = program.get(path, params={"per_page": 100, "page": page})
        assert answer.status_code == 200, answer.text
        rows += answer.json()["data"]
        if len(rows) >= answer.json()["meta"]["total"]:
            return rows
        page += 1


def are_ready(program: httpx.Client) -> bool:
    return {row["status"] for row in _rows(program, "/api/media")} <= {"ready", "failed"}


def is_quiet(program: httpx.Client) -> bool:
    """Return whether no delivery of a webhook waits."""
    rows = _rows(program, "/api/webhook-deliveries")
    return {row["status"] for row in rows} <= {"succeeded", "failed"}


def upload(person: Person, number: int, kind: str = "PNG") -> str:
    name = f"picture-{number}.{kind.lower()}"
    file = (name, picture(number, kind), f"image/{kind.lower()}")
    return str(person.send("POST", "/api/media/upload", files={"file": file})["id"])


class Writer:
    """Uploads pictures and creates posts with them, one after another. `confirmed`: titles of created posts."""

    TITLE: Final = "Written meanwhile "

    def __init__(self, site: SampleSite) -> None:
        self.site = site
        self.confirmed: list[str] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write during the block, and at least one post before it."""
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            until("a post", lambda: self.confirmed or self._error)
            yield
        finally:
            self._ended.set()
            thread.join(120)
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            person = self.site.person()
            while not self._ended.is_set():
                title = f"{self.TITLE}{len(self.confirmed) + 1}"
                asset = upload(person, len(self.confirmed) + 1)
                body = {"type": "blog", "title": title, "featuredMediaId": asset}
                person.send("POST", "/api/posts", json=body)
                self.confirmed.append(title)
        except BaseException as error:
            self._error = error
