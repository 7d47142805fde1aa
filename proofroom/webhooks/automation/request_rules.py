"""Rules of a request that a definition file declares: its address and its headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings

from proofroom.core.errors import CmsError
from proofroom.webhooks import rules
from proofroom.webhooks.automation.templates import fault_of, placeholders

SECRET_ROOT: Final = "secret"  # noqa: S105  # the name of a placeholder
CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "x-api-key"})


def check_url(url: str) -> str:
    """Return the address without blanks around it. Raises `ValueError` if it may not be called."""
    refusals_as_value_errors(lambda: rules.clean_url(url))
    return url.strip()


def check_headers(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers. Raises `ValueError` also if one holds a credential, or names no known secret."""
    refusals_as_value_errors(lambda: rules.clean_headers(headers, {}))
    fault = fault_of(dict(headers), frozenset({SECRET_ROOT}))
    if fault:
        raise ValueError(fault)
    for name, value in headers.items():
        if name.lower() in CREDENTIAL_HEADERS and not list(placeholders(value)):
            raise ValueError(
                f"put the credential of {name} into WORKFLOW_SECRETS and write {{{{secret.<its name>}}}} here"
            )
    for path in placeholders(dict(headers)):
        name = path.partition(".")[2]
        if name not in settings.CMS_ENV.workflow_secrets:
            raise ValueError(f"WORKFLOW_SECRETS has no value named {name!r}")
    return headers


def refusals_as_value_errors(check: Callable[[], object]) -> None:
    """Turn a refusal into the kind of error that is a problem of the file."""
    try:
        check()
    except CmsError as error:
        raise ValueError(error.message) from None
