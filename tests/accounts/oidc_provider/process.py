"""The process of the provider."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.ports import free_port
from tests.served import ROOT


@contextmanager
def provider_for(site: str) -> Iterator[str]:
    """Yield the URL of a provider whose only client is the site at this address."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.accounts.oidc_provider", str(port), site],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 120
    try:
        while time.monotonic() < until and process.poll() is None:
            try:
                httpx.get(f"{url}/.well-known/openid-configuration")
                break
            except httpx.TransportError:
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(15)
