"""The package, built as docs/development/releasing.md says."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deployment.written import ROOT

# Settings to reach the package registry.
_PASSED_ON = (
    "PIP_", "UV_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
)  # fmt: skip


def uv() -> str:
    return shutil.which("uv") or str(ROOT / ".uv/bin/uv")


def registry_variables() -> dict[str, str]:
    """Return the environment variables that pip and uv need here."""
    found = {
        name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED_ON)
    }
    if index := os.environ.get("PIP_INDEX_URL"):
        found.setdefault("UV_DEFAULT_INDEX", index)
    return found


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build the sdist from the checkout, and the wheel from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run(
        [uv(), "build", "--quiet", "--out-dir", str(folder), str(ROOT)], check=True, timeout=300
    )
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def wheel(built: Built) -> Path:
    return built.wheel
