"""What the errors of the AI library mean for a request. Import it in the worker only."""

from __future__ import annotations

import logging
from typing import Final, TypeVar

import httpx2
from pydantic_ai import exceptions

from agents_app.providers.connection import RequestFailure
from agents_app.providers.interface import ProviderChoice, ProviderError, ProviderTimeout

logger = logging.getLogger(__name__)
_E = TypeVar("_E", bound=BaseException)
_AGAIN: Final = frozenset({408, 409, 425, 429})


def failed(error: Exception, choice: ProviderChoice) -> RequestFailure:
    """Return the failure for a request's error."""
    name = choice.provider
    # Raised by `_Bounded` within the request, and wrapped by the library.
    known = _cause(error, RequestFailure)
    if known is not None:
        return known
    if isinstance(error, exceptions.ModelHTTPError):
        return _failed_with_status(error, choice)
    # Transport errors are wrapped by the library; they are the most precise cause.
    lost = _cause(error, httpx2.TransportError)
    # The request was never sent, so the provider cannot have worked.
    if isinstance(lost, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        sentence = f"{name} could not be reached. Check its address and this server's way out."
        return RequestFailure(ProviderError(sentence), again=True, is_outage=True)
    if isinstance(lost, httpx2.TimeoutException):
        return RequestFailure(ProviderTimeout(f"{name} did not answer in time."), worked=True)
    if lost is not None or isinstance(error, exceptions.ModelConnectionError):
        return broken_off(choice, is_outage=True)
    if isinstance(error, exceptions.ContentFilterError):
        return refused(choice)
    if isinstance(error, exceptions.ModelAPIError):
        return unreadable(choice)
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        return broken_off(choice)
    if isinstance(error, exceptions.UserError):
        return RequestFailure(
            ProviderError(f"{name} cannot be used with the model {choice.model}.")
        )
    logger.warning("Cannot read a response of %s: %s", name, type(error).__name__)
    return unreadable(choice)


def broken_off(choice: ProviderChoice, *, is_outage: bool = False) -> RequestFailure:
    """Return the failure of an answer without its end, none of which is used.

    `is_outage`: the connection was lost. Otherwise the answer ended early on a connection that held.
    """
    sentence = f"The answer of {choice.provider} broke off before its end. Nothing of it was used."
    return RequestFailure(ProviderError(sentence), again=True, worked=True, is_outage=is_outage)


def unreadable(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of an answer that is not in the provider's format."""
    sentence = f"{choice.provider} answered with something that cannot be read."
    return RequestFailure(ProviderError(sentence), worked=True)


def refused(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of a model or its filter that refuses to answer."""
    sentence = f"{choice.provider} refused to answer because of its safety rules or content filter."
    return RequestFailure(ProviderError(sentence), worked=True)


def cut_off(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of an answer that reached its token limit."""
    sentence = (
        f"The answer of {choice.provider} was cut off; raise maxTokens in the agent's options."
    )
    return RequestFailure(ProviderError(sentence), worked=True)


def retry_after_too_long(seconds: float, choice: ProviderChoice) -> ProviderError:
    """Return the error of a provider that asks to wait longer than the run may take."""
    wait = f"{seconds:.0f} seconds" if seconds < 86_400 else "more than a day"
    error = ProviderError(
        f"{choice.provider} refused the request: too many requests (429). "
        f"It asks to wait {wait}, which exceeds the time limit of this run."
    )
    error.is_outage = True
    return error


def _failed_with_status(error: exceptions.ModelHTTPError, choice: ProviderChoice) -> RequestFailure:
    status = error.status_code
    if isinstance(error, exceptions.ModelContextWindowExceededError):
        sentence = f"This is more text than {choice.model} can read at once ({status})."
        return RequestFailure(ProviderError(sentence))
    if isinstance(error, exceptions.ModelQuotaExceededError):
        sentence = f"The quota or credit at {choice.provider} is used up ({status})."
        return RequestFailure(ProviderError(sentence), is_outage=status == 429)
    name = choice.provider
    if status in (401, 403):
        sentence = (
            f"{name} refused the API key ({status}). Check AI_PROVIDER_{name.upper()}_API_KEY."
        )
    elif status == 404:
        sentence = f"{name} knows no model {choice.model!r} at this address (404)."
    elif status == 429:
        sentence = f"{name} refused the request: too many requests, or the quota is used up (429)."
    elif status >= 500:
        sentence = f"{name} failed ({status}). Try again later."
    else:
        sentence = f"{name} refused the request ({status}); model {choice.model}."
    return RequestFailure(
        ProviderError(sentence),
        again=status in _AGAIN or status >= 500,
        after=error.retry_after,
        worked=error.in_stream,
        is_outage=status == 429 or status >= 500,
    )


def _cause(error: BaseException | None, kind: type[_E]) -> _E | None:
    """Return the first exception of that type among an error and its causes."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error
