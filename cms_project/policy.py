"""The Content-Security-Policy of every page that has none of its own."""

from __future__ import annotations

from collections.abc import Sequence


def content_security_policy(
    *, frame_hosts: Sequence[str], image_origins: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Everything comes from this site, but for files of a bucket and frames of hosts that are allowed."""
    policy = {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", *image_origins],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    if frame_hosts:
        policy["frame-src"] = ["'self'", *(f"https://{host}" for host in frame_hosts)]
    return policy
