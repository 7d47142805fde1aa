"""An editor who changes a post every second, while other requests are measured."""

from __future__ import annotations

import itertools
import json
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.conf import settings

_TOKEN = "benchmark" * 3 + "token"  # the length of Django's tokens


def csrf_headers(cookie: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a browser for write requests."""
    named = f"{cookie['Cookie']}; {settings.CSRF_COOKIE_NAME}={_TOKEN}"
    return {"Cookie": named, "X-CSRFToken": _TOKEN}


@contextmanager
def each_second(port: int, cookie: Mapping[str, str], post_id: str) -> Iterator[None]:
    """Change the title of a published post at the start and once a second, until the block ends.

    Raises `SystemExit` if an edit was refused, because the measurement is then invalid.
    """
    is_over = threading.Event()
    failures: list[str] = []
    address = f"http://127.0.0.1:{port}/api/posts/{post_id}"
    headers = {**csrf_headers(cookie), "Content-Type": "application/json"}

    def edit() -> None:
        for number in itertools.count():
            body = json.dumps({"title": f"Edited {number} times"}).encode()
            request = urllib.request.Request(address, body, headers, method="PUT")
            try:
                urllib.request.urlopen(request, timeout=20).close()  # noqa: S310  # of this machine
            except OSError as error:
                failures.append(f"An edit beside the reads failed: {error}")
                return
            if is_over.wait(1):
                return

    editor = threading.Thread(target=edit, name="edits", daemon=True)
    editor.start()
    try:
        yield
    finally:
        is_over.set()
        editor.join()
    if failures:
        raise SystemExit(failures[0])
