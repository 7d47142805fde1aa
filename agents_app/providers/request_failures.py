"""Failures of requests: a sentence that holds nothing of what was transferred, and whether to try again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final, TypeVar

import httpx2
from pydantic_ai import exceptions

from agents_app.providers.interface import ProviderChoice, ProviderError, ProviderTimeout

logger = logging.getLogger(__name__)
_E = TypeVar("_E", bound=BaseException)
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(eq=False, slots=True)
class RequestFailure(Exception):
    """A request that failed. The library's own words may quote the provider, key included, and go no further.

    `again` says that the same request may well pass later on, `after` how many seconds the provider asked to wait.
    `worked` says that it may have worked for us all the same, and will want its money.
    """

    error: ProviderError
    again: bool = False
    after: float | None = None
    worked: bool = False

    def __post_init__(self) -> None:
        self.error.worked = self.worked


def failed(error: Exception, choice: ProviderChoice) -> RequestFailure:
    """Return the failure that a request's error means."""
    name = choice.provider
    known = _cause(error, RequestFailure)
    if known is not None:
        return known
    if isinstance(error, exceptions.ModelHTTPError):
        return _failed_with_status(error, choice)
    # What went wrong on the wire, where that is the cause.
    lost = _cause(error, httpx2.TransportError)
    if isinstance(lost, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        sentence = f"{name} could not be reached. Check its address and this server's way out."
        return RequestFailure(ProviderError(sentence), again=True)
    if isinstance(lost, httpx2.TimeoutException):
        return RequestFailure(ProviderTimeout(f"{name} did not answer in time."), worked=True)
    if lost is not None or isinstance(error, exceptions.ModelConnectionError):
        return broken_off(choice)
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
    logger.warning("An answer of %s could not be read: %s", name, type(error).__name__)
    return unreadable(choice)


def broken_off(choice: ProviderChoice) -> RequestFailure:
    """The answer has no end, so none of it counts."""
    sentence = f"The answer of {choice.provider} broke off before its end. Nothing of it was used."
    return RequestFailure(ProviderError(sentence), again=True, worked=True)


def unreadable(choice: ProviderChoice) -> RequestFailure:
    """No answer of the form that this provider answers in."""
    sentence = f"{choice.provider} answered with something that cannot be read."
    return RequestFailure(ProviderError(sentence), worked=True)


def refused(choice: ProviderChoice) -> RequestFailure:
    """The model, or what guards it, will not answer."""
    sentence = f"{choice.provider} refused to answer because of its safety rules or content filter."
    return RequestFailure(ProviderError(sentence), worked=True)


def cut_off(choice: ProviderChoice) -> RequestFailure:
    """The answer reached the most tokens that it may have."""
    sentence = (
        f"The answer of {choice.provider} was cut off; raise maxTokens in the agent's options."
    )
    return RequestFailure(ProviderError(sentence), worked=True)


def waits_too_long(seconds: float, choice: ProviderChoice) -> ProviderError:
    """The provider asked for more patience than the run has."""
    wait = f"{seconds:.0f} seconds" if seconds < 86_400 else "more than a day"
    return ProviderError(
        f"{choice.provider} refused the request: too many requests (429). "
        f"It asks to wait {wait}, which is longer than this run may take."
    )


def _failed_with_status(error: exceptions.ModelHTTPError, choice: ProviderChoice) -> RequestFailure:
    status = error.status_code
    if isinstance(error, exceptions.ModelContextWindowExceededError):
        sentence = f"This is more text than {choice.model} can read at once ({status})."
        return RequestFailure(ProviderError(sentence))
    if isinstance(error, exceptions.ModelQuotaExceededError):
        sentence = f"The quota or credit at {choice.provider} is used up ({status})."
        return RequestFailure(ProviderError(sentence))
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
    )


def _cause(error: BaseException | None, kind: type[_E]) -> _E | None:
    """The first of that kind among an error and what caused it."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error
