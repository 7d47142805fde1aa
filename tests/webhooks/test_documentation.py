"""The documentation's examples work with real calls."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.rules import webhook_events
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.receiver import Receiver, Seen
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
DOCS = Path(django_settings.BASE_DIR) / "docs"
TEXT = (DOCS / "reference" / "webhooks.md").read_text(encoding="utf-8")
NEW = "new-secret-of-this-webhook"
Verify = Callable[[bytes, dict[str, str], str], bool]


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def in_python(body: bytes, headers: dict[str, str], secret: str) -> bool:
    names: dict[str, Any] = {}
    exec(example("python"), names)  # noqa: S102  # the documentation's own words
    found: bool = names["is_genuine"](body, headers, secret)
    return found


def in_node(body: bytes, headers: dict[str, str], secret: str) -> bool:
    given = [body.hex(), headers, secret]
    script = example("js") + (
        f"const [body, headers, secret] = {json.dumps(given)};"
        "console.log(isGenuine(Buffer.from(body, 'hex'), headers, secret));"
    )
    ran = subprocess.run(  # the documentation's own words
        [str(shutil.which("node")), "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout.strip() == "true"


HAS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not here")


def rotated(receiver: Receiver) -> Seen:
    """Return a call after a rotation of the secret."""
    row = sending.webhook(receiver)
    update_webhook(webhook_id=row.pk, actor=make.actor("admin"), changes=WebhookChanges(secret=NEW))
    sending.happened("post.updated", title="Öl – 世界")
    assert sending.send() == 1
    [seen] = receiver.at("/hook")
    return seen


@pytest.mark.parametrize(
    "verify", [in_python, pytest.param(in_node, marks=HAS_NODE)], ids=["python", "node"]
)
def test_the_examples_know_both_secrets_of_a_rotation(receiver: Receiver, verify: Verify) -> None:
    seen = rotated(receiver)
    headers = dict(seen.headers)

    assert verify(seen.body, headers, NEW)
    assert verify(seen.body, headers, sending.SECRET)
    assert not verify(seen.body, headers, "a-secret-of-another-receiver")
    assert not verify(seen.body + b" ", headers, NEW)
    assert not verify(seen.body, {}, NEW)
    assert not verify(seen.body, {"x-hub-signature-256": "sha256=ö"}, NEW)


def test_every_header_and_event_is_documented(receiver: Receiver) -> None:
    sent = {name for name in rotated(receiver).headers if name.startswith("x-")}

    named = {name.lower() for name in re.findall(r"^\| `(X-[\w-]+)` \|", TEXT, re.MULTILINE)}
    assert sent == named
    for event in webhook_events():
        assert f"| `{event}` |" in TEXT
