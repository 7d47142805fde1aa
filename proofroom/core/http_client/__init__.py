"""The only way out: every call to an address that people or content name goes through here.

Such an address is resolved once, each address behind its name is judged, and the connection goes to one that was
judged. There are no proxies, no redirects, no cookies and no waiting without an end.
"""

from __future__ import annotations

from proofroom.core.http_client.address_guard import CallRefused, check_url
from proofroom.core.http_client.client import Client, fetch
from proofroom.core.http_client.connection import HttpResult, Unreachable

__all__ = ["CallRefused", "Client", "HttpResult", "Unreachable", "check_url", "fetch"]
