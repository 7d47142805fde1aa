"""Every operation against its description, as a visitor and as every role, with cases of schemathesis.

`SCHEMATHESIS_EXAMPLES` (3) is the number of cases per operation, `SCHEMATHESIS_SEED` (1) the seed.
With `SCHEMATHESIS_CORNERS=1` an admin also tries the corner cases of every parameter, some
thousands of calls.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api_client import ApiClient
from tests.commands import run_command
from tests.described.scene import config, everything, with_examples

pytestmark = [pytest.mark.schemathesis, pytest.mark.django_db(transaction=True)]

PHASES = ("examples,fuzzing,stateful", "examples,coverage,fuzzing,stateful")
CONFIG = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.parametrize("role", [None, "admin", "editor", "translator"])
def test_every_operation_does_what_its_description_says(
    role: str | None, live_server: Any, strict_document: Any, freely_called: None, tmp_path: Path
) -> None:
    scene = everything(strict_document)
    document, configuration = tmp_path / "openapi.json", tmp_path / "schemathesis.toml"
    document.write_text(json.dumps(with_examples(strict_document, scene)))
    configuration.write_text(CONFIG.read_text() + config(scene))
    client = ApiClient(role)
    arguments = [
        *("--config-file", str(configuration), "run", str(document), "--url", live_server.url),
        *("--max-examples", os.environ.get("SCHEMATHESIS_EXAMPLES", "3")),
        *("--seed", os.environ.get("SCHEMATHESIS_SEED", "1")),
        *("--phases", PHASES[role == "admin" and bool(os.environ.get("SCHEMATHESIS_CORNERS"))]),
        *_credentials(client, role),
    ]

    done = run_command(
        [Path(sys.executable).with_name("schemathesis"), *arguments], cwd=tmp_path, timeout=1800
    )

    (tmp_path / "report.txt").write_text(done.stdout)
    if done.returncode != 0:
        pytest.fail(f"{done.stdout[-25_000:]}\n{done.stderr[-2_000:]}", pytrace=False)
    # Without the session, all later requests would only have been refused.
    assert client.get("/api/auth/me").status_code == (401 if role is None else 200)


def _credentials(client: ApiClient, role: str | None) -> list[str]:
    if role is None:
        return []
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    return [
        *("-H", f"Cookie: {cookies}", "-H", f"X-CSRFToken: {client.cookies['csrftoken'].value}"),
        # Operations that end or replace the session would make later calls meaningless.
        *("--exclude-operation-id", "auth_logout", "--exclude-operation-id", "auth_login"),
    ]
