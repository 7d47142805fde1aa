"""Detection of secrets, of strings that look like secrets, and of personal data."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from proofroom.core.redaction import (
    REDACTED_SECRET,
    SecretRedactor,
    redact_credentials,
    redact_people,
)
from tests import make

pytestmark = pytest.mark.django_db
TOKEN = "k3" * 21 + "Z"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"with cms_{TOKEN} and", "with [hidden] and"),
        (f"with cmsmcp_{TOKEN}.", "with [hidden]."),
        ("key sk-ant-api03-abcdefgh", "key [hidden]"),
        ("key AIzaSyA1234567890abcdefghij", "key [hidden]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig end", "[hidden] end"),
        ("Cookie: theme=dark; sid=abc\nHost: x", "Cookie: [hidden]\nHost: x"),
        ("(b'cookie', b'sid=abc'), (b'host', b'x')", "(b'cookie', b'[hidden]'), (b'host', b'x')"),
        ("Authorization: Token abc", "Authorization: [hidden]"),
        ("Proxy-Authorization: Basic YTpi", "Proxy-Authorization: [hidden]"),
        ('Authorization: Digest username="ann", response="abc"', "Authorization: [hidden]"),
        (
            "{'Authorization': 'Token abc', 'Host': 'x'}",
            "{'Authorization': '[hidden]', 'Host': 'x'}",
        ),
        ('{"password": "two words, \\"three\\"", "a": 1}', '{"password": "[hidden]", "a": 1}'),
        ('"{\\"password\\": \\"two words\\", 1}"', '"{\\"password\\": \\"[hidden]\\", 1}"'),
        (
            "<QueryDict: {'password': ['two words'], 'a': ['b']}>",
            "<QueryDict: {'password': [hidden], 'a': ['b']}>",
        ),
        ("passwd=abc pwd: def passphrase=ghi", "passwd=[hidden] pwd: [hidden] passphrase=[hidden]"),
        ("aws_secret_access_key = ab/cd", "aws_secret_access_key = [hidden]"),
        ("SECRET_KEY=ab#cd private_key=ef", "SECRET_KEY=[hidden] private_key=[hidden]"),
        ("mcp-session-id: Ab0", "mcp-session-id: [hidden]"),
        ("GET /x?key=abc&page=2", "GET /x?key=[hidden]&page=2"),
        ("sent Basic YW5uOnNlY3JldA== to", "sent Basic [hidden] to"),
        ("basic settings and a key: 5", "basic settings and a key: 5"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x", "[hidden] x"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "[hidden]"),
        ("glpat-abcdefghij1234567890 github_pat_11ABCDEFG0abcdefghij", "[hidden] [hidden]"),
        ("https://hooks.slack.com/services/T0/B0/abc", "https://hooks.slack.com/services/[hidden]"),
        ("redis://:pass-word@cache:6379/0", "redis://:[hidden]@cache:6379/0"),
        ("postgresql://me:pass-word@db/name", "postgresql://me:[hidden]@db/name"),
        (f"GET /preview/{TOKEN} 200", "GET /preview/[hidden] 200"),
        (f"GET /preview/{TOKEN[:30]} 404", "GET /preview/[hidden] 404"),
        (f"GET /preview/{TOKEN}x?a=1 404", "GET /preview/[hidden]?a=1 404"),
        (f"GET /preview/{TOKEN}%20 404", "GET /preview/[hidden] 404"),
        (f"next=%2fpreview%2f{TOKEN}&x", "next=%2fpreview%2f[hidden]&x"),
        (
            f"GET /admin/login/invitation/{TOKEN}/ 200",
            "GET /admin/login/invitation/[hidden]/ 200",
        ),
        (
            f"POST /admin/notifications/unsubscribe/{TOKEN}:1abc:{TOKEN}/ 200",
            "POST /admin/notifications/unsubscribe/[hidden]/ 200",
        ),
        ("GET /admin/login/reset/1a-c4f2-5d8e/ 200", "GET /admin/login/reset/[hidden]/ 200"),
        ("GET /admin/login/email/MQ:1tX:abc/ 200", "GET /admin/login/email/[hidden]/ 200"),
        (f"GET /calendar/{TOKEN}.ics 200", "GET /calendar/[hidden] 200"),
        (
            "Reverse for /admin/content/post/preview/ failed",
            "Reverse for /admin/content/post/preview/ failed",
        ),
        (f"next=%2Fpreview%2F{TOKEN}", "next=%2Fpreview%2F[hidden]"),
        ("cms_project.settings is no token", "cms_project.settings is no token"),
        ("a plain sentence of tokens", "a plain sentence of tokens"),
    ],
)
def test_credentials_are_known_by_their_look(text: str, shown: str) -> None:
    assert redact_credentials(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("from 203.0.113.9:4711", "from [address]:4711"),
        ("from 2001:db8::7 and ::ffff:203.0.113.9.", "from [address] and [address]."),
        ("from 127.0.0.1 or ::1", "from 127.0.0.1 or ::1"),
        ("ann.lee+x@mail.example.com wrote", "[address] wrote"),
        ("session 0123456789abcdefghijklmnopqrstuv", "session [hidden]"),
        ("pbkdf2_sha256$1000$salt$hash=", "[hidden]"),
        ("2026-11-22 08:40:54,123 took 10:20:30", "2026-11-22 08:40:54,123 took 10:20:30"),
        ("reference 1a2b3c4d5e6f", "reference 1a2b3c4d5e6f"),
        ("post 3f1c2a44-9c1e-4b52-8f07-0d9a5be0c111", "post 3f1c2a44-9c1e-4b52-8f07-0d9a5be0c111"),
        ("core::tools, a[::2]x", "core::tools, a[::2]x"),
    ],
)
def test_people_and_sessions_are_known_by_their_look(text: str, shown: str) -> None:
    assert redact_people(text) == shown


def test_secrets_are_known_in_every_spelling(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={
            "agent_secret": 'canary "one"/1',
            "workflow_secrets": {"crm": "canary-of-crm"},
            "redis_url": "redis://:canary-pass@cache/0",
        }
    )
    headers = {"X-Team": "Basic canary-header", "Accept": "application/json", "X-From": "website"}
    make.webhook(secret="canary-hook", headers=headers)
    redactor = SecretRedactor()

    for text in (
        'said canary "one"/1',
        'said canary \\"one\\"/1',
        "said canary%20%22one%22%2F1",
        "said canary &quot;one&quot;/1",
        "said CANARY-OF-CRM",
        "said canary-pass",
        "said canary-hook",
        "said canary-header",
        f"said {settings.SECRET_KEY}",
    ):
        assert redactor.known(text) == "said [hidden]"
    assert redactor.known("application/json of a website") == "application/json of a website"


@pytest.mark.parametrize(
    "unit",
    ["a", ":", "1.", "a@", "://", "token ", "=", "0a:", "\ufffd", "x\n", "token" + " " * 999],
)
def test_threat_26_a_long_text_is_looked_through(unit: str) -> None:
    """A backtracking pattern would not end."""
    text = unit * (200_000 // len(unit))

    assert len(SecretRedactor().text(text)) > 60_000


@pytest.mark.parametrize(
    "unit",
    ["token=\\", "password='x", 'cookie: "', "token=[", "cookie: =", "-----BEGIN PRIVATE KEY-----"],
)
def test_threat_26_a_long_secret_is_looked_through(unit: str) -> None:
    text = unit * (200_000 // len(unit)) + "\nx"

    assert REDACTED_SECRET in SecretRedactor().text(text)


SERVER_LOGS = """
import logging.config, sys
import granian.log, uvicorn.config
from pathlib import Path
from cms_project.logs import logging_settings

logging.config.dictConfig(uvicorn.config.LOGGING_CONFIG)
logging.config.dictConfig(granian.log.LOGGING_CONFIG)
logging.config.dictConfig(
    logging_settings(file=None, stream="ext://sys.stdout", secrets=[], level="INFO")
)
path = "/preview/" + "t" * 43
reviewer = "/preview/changes/" + "t" * 43
release = "/preview/release/" + "t" * 43 + "/blog"
access = logging.getLogger("uvicorn.access")
access.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", path, "1.1", 200)
logging.getLogger("granian.access").info(f"GET {path} 200")
logging.getLogger("granian.access").info(f"GET {reviewer} 200")
logging.getLogger("granian.access").info(f"GET {release} 200")
"""


def test_access_logs_of_servers_show_no_address_that_opens_something() -> None:
    done = subprocess.run(  # our own lines
        [sys.executable, "-c", SERVER_LOGS], capture_output=True, text=True, check=True
    )

    assert "tttttt" not in done.stdout + done.stderr
    assert "GET /preview/[hidden] 200" in done.stdout
    assert "GET /preview/changes/[hidden] 200" in done.stdout
    assert "GET /preview/release/[hidden]/blog 200" in done.stdout
