"""Drops pages from Varnish by their tags, when the CMS calls this receiver with `content.changed`."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import sys
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SECRET = os.environ["CMS_WEBHOOK_SECRET"]
VARNISH = urlsplit(os.environ.get("VARNISH", "http://127.0.0.1:6081"))
AT_ONCE = 50
"""Tags in one request. Varnish limits the length of a header."""


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Hub-Signature-256", "")
        if not hmac.compare_digest(given.encode(), expected.encode()):
            self.send_error(401)
            return
        tags = json.loads(body)["data"].get("tags", [])
        for begin in range(0, len(tags), AT_ONCE):
            if not ban(tags[begin : begin + AT_ONCE]):
                # The CMS tries it again.
                self.send_error(503)
                return
        self.send_response(204)
        self.end_headers()


def ban(tags: list[str]) -> bool:
    """Drop the pages with one of the tags. Returns whether Varnish accepted it."""
    pattern = f"(^|,)({'|'.join(map(re.escape, tags))})(,|$)"
    varnish = HTTPConnection(VARNISH.hostname or "127.0.0.1", VARNISH.port or 80, timeout=5)
    try:
        varnish.request("BAN", "/", headers={"X-Ban": pattern})
        return varnish.getresponse().status == 200
    except OSError:
        return False
    finally:
        varnish.close()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
