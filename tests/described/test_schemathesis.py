"""Every operation against its description, as a visitor and as every role, with whatever schemathesis thinks of.

`SCHEMATHESIS_EXAMPLES` (4) is how many cases an operation gets; `SCHEMATHESIS_SEED` (1) which ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api_client import ApiClient

pytestmark = [pytest.mark.schemathesis, pytest.mark.django_db(transaction=True)]

CONFIG = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.parametrize("role", [None, "admin", "editor", "translator"])
def test_every_operation_does_what_its_description_says(
    role: str | None, live_server: Any, strict_document: Path, freely_called: None, tmp_path: Path
) -> None:
    arguments = [
        *("--config-file", str(CONFIG)),
        *("run", str(strict_document)),
        *("--url", live_server.url),
        *("--max-examples", os.environ.get("SCHEMATHESIS_EXAMPLES", "4")),
        *("--seed", os.environ.get("SCHEMATHESIS_SEED", "1")),
    ]
    if role is not None:
        client = ApiClient(role)
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
        arguments += ["-H", f"Cookie: {cookies}"]
        arguments += ["-H", f"X-CSRFToken: {client.cookies['csrftoken'].value}"]
        # A session that ends itself proves nothing more.
        arguments += ["--exclude-operation-id", "auth_logout"]

    done = subprocess.run(
        [Path(sys.executable).with_name("schemathesis"), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )

    if done.returncode != 0:
        pytest.fail(f"{done.stdout[-25_000:]}\n{done.stderr[-2_000:]}", pytrace=False)
