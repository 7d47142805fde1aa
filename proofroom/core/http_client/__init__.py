"""Outgoing HTTP: every call to a URL that users or content provide goes through this package.

The host is resolved once, each of its addresses is checked, and the connection goes to a checked address. There are
no proxies, no redirects, no cookies and no unlimited waits.
"""

from __future__ import annotations

from proofroom.core.http_client.address_guard import CallRefused, check_url
from proofroom.core.http_client.client import Client, fetch
from proofroom.core.http_client.connection import HttpResult, Unreachable

__all__ = ["CallRefused", "Client", "HttpResult", "Unreachable", "check_url", "fetch"]
