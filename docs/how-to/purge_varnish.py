"""Drops pages from Varnish by their tags, when the CMS calls this receiver with `content.changed`."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import sys
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Timer
from urllib.parse import urlsplit

SECRET = os.environ["CMS_WEBHOOK_SECRET"]
VARNISH = urlsplit(os.environ.get("VARNISH", "http://127.0.0.1:6083"))
AGAIN_AFTER = float(os.environ.get("AGAIN_AFTER", "5"))
"""Seconds until the same pages are dropped once more.

A page that Varnish was reading during the change is stored after the first time, and may be older than the change.
"""
AT_ONCE = 50
"""Tags in one request. Varnish limits the length of a header."""


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_genuine(body):
            self.send_error(401)
            return
        # The test of a webhook has no tags.
        tags = json.loads(body)["data"].get("tags", [])
        if not drop(tags):
            # The CMS tries it again.
            self.send_error(503)
            return
        again = Timer(AGAIN_AFTER, drop, [tags])
        again.daemon = True
        again.start()
        self.send_response(204)
        self.end_headers()

    def is_genuine(self, body: bytes) -> bool:
        expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        names = ("X-Hub-Signature-256", "X-Hub-Signature-256-Previous")
        given = [self.headers.get(name, "") for name in names]
        return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)


def drop(tags: list[str]) -> bool:
    """Drop the pages with one of the tags. Returns whether Varnish accepted it."""
    return all(ban(tags[begin : begin + AT_ONCE]) for begin in range(0, len(tags), AT_ONCE))


def ban(tags: list[str]) -> bool:
    pattern = f"(^|,)({'|'.join(map(re.escape, tags))})(,|$)"
    varnish = HTTPConnection(VARNISH.hostname or "127.0.0.1", VARNISH.port or 80, timeout=3)
    try:
        varnish.request("BAN", "/", headers={"X-Ban": pattern})
        return varnish.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        varnish.close()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
