"""Pages that the admin shows in a frame. Every other page refuses to be framed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.views.decorators.clickjacking import xframe_options_sameorigin

from proofroom.core.http.csp import CSP, Policy, csp_override

View = TypeVar("View", bound=Callable[..., Any])


def allow_admin_frame(view: View) -> View:
    """A page that pages of this site may frame, and that runs and sends nothing itself."""
    policy: Policy = {
        **settings.SECURE_CSP,
        "script-src": [CSP.NONE],
        "form-action": [CSP.NONE],
        "frame-ancestors": [CSP.SELF],
    }
    return xframe_options_sameorigin(csp_override(policy)(view))
