"""The Content-Security-Policy header, by the names that Django 6 uses: upgrading means deleting this file.

`SECURE_CSP` and `SECURE_CSP_REPORT_ONLY` map a directive to its sources. `csp_override` replaces the policy of
one view. There are no nonces: no page of this project has an inline script or style.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

Policy = Mapping[str, Sequence[str] | set[str] | str | bool | None]
View = TypeVar("View", bound=Callable[..., Any])


class CSP(StrEnum):
    """Source expressions and header names."""

    HEADER_ENFORCE = "Content-Security-Policy"
    HEADER_REPORT_ONLY = "Content-Security-Policy-Report-Only"
    NONE = "'none'"
    REPORT_SAMPLE = "'report-sample'"
    SELF = "'self'"
    STRICT_DYNAMIC = "'strict-dynamic'"
    UNSAFE_EVAL = "'unsafe-eval'"
    UNSAFE_HASHES = "'unsafe-hashes'"
    UNSAFE_INLINE = "'unsafe-inline'"
    WASM_UNSAFE_EVAL = "'wasm-unsafe-eval'"


def build_policy(config: Policy) -> str:
    """The header's text. A directive of `None` or `False` is left out; `True` stands without sources."""
    directives = []
    for directive, sources in config.items():
        if sources is None or sources is False:
            continue
        if sources is True:
            directives.append(directive)
            continue
        listed = [sources] if isinstance(sources, str) else sources
        # A set has no order of its own; a header that changes between processes defeats caches.
        ordered = sorted(listed) if isinstance(listed, set) else list(listed)
        if ordered:
            directives.append(" ".join([directive, *map(str, ordered)]))
    return "; ".join(directives)


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Adds the headers to every answer that has none yet."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        for header, config in (
            (CSP.HEADER_ENFORCE, getattr(response, "_csp_config", settings.SECURE_CSP)),
            (
                CSP.HEADER_REPORT_ONLY,
                getattr(response, "_csp_ro_config", settings.SECURE_CSP_REPORT_ONLY),
            ),
        ):
            if config and header not in response:
                response.headers[str(header)] = build_policy(cast("Policy", config))
        return response


def _override(attribute: str, config: Policy) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        if iscoroutinefunction(view):

            @wraps(view)
            async def asynchronous(*args: Any, **kwargs: Any) -> HttpResponseBase:
                response: HttpResponseBase = await view(*args, **kwargs)
                setattr(response, attribute, config)
                return response

            return cast("View", asynchronous)

        @wraps(view)
        def synchronous(*args: Any, **kwargs: Any) -> HttpResponseBase:
            response = cast("HttpResponseBase", view(*args, **kwargs))
            setattr(response, attribute, config)
            return response

        return cast("View", synchronous)

    return decorate


def csp_override(config: Policy) -> Callable[[View], View]:
    """Give one view a policy of its own; an empty one sends no header."""
    return _override("_csp_config", config)


def csp_report_only_override(config: Policy) -> Callable[[View], View]:
    """The same for the report-only header."""
    return _override("_csp_ro_config", config)
