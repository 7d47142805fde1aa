"""The requests of one conversation: announced before, told of after, tried again where that may help, and capped."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from agents_app.providers.exchange import Heard, Question, exchange
from agents_app.providers.failures import Failed, waits_too_long
from agents_app.providers.line import Line
from agents_app.providers.port import Choice, ProviderError, Step, Usage, Watcher
from agents_app.providers.prices import cost_of

PAUSES: Final = [0.5, 2.0]
"""Seconds before the second and the third try, where the provider names none."""


@dataclass(slots=True)
class Tries:
    """What a conversation asked so far, and what that used. `steps` counts calls of tools, too."""

    choice: Choice
    watcher: Watcher
    usage: Usage = field(default_factory=Usage)
    steps: int = 0

    def count_step(self) -> None:
        """One more request or call of a tool. Raises `ProviderError` where there were enough."""
        cap = settings.CMS_ENV.agent_step_cap
        if self.steps >= cap:
            raise ProviderError(f"The run needed more than {cap} steps (AGENT_STEP_CAP).")
        self.steps += 1

    def answer(self, line: Line, model: Model, question: Question) -> ModelResponse:
        """The model's answer. Raises `ProviderError`."""
        for pause in PAUSES:
            try:
                return self._try(line, model, question)
            except Failed as error:
                wait_for_next_try(error, pause, line, self.choice)
        try:
            return self._try(line, model, question)
        except Failed as error:
            raise error.error from None

    def _try(self, line: Line, model: Model, question: Question) -> ModelResponse:
        self.count_step()
        sent, told = question.tokens(), 0
        self.watcher.before_request(input_tokens=sent, output_tokens=question.max_tokens)
        heard, started = Heard(), time.monotonic()

        def tick() -> None:
            nonlocal told
            if heard.characters > told:
                told = heard.characters
                self.watcher.heard(told)

        try:
            response = exchange(line, model, self.choice, question, heard, tick)
        except Failed as error:
            self._settle(heard.tokens(sent, worked=error.worked), heard, started, str(error.error))
            raise
        except BaseException as error:
            why = str(error) if isinstance(error, ProviderError) else type(error).__name__
            self._settle(heard.tokens(sent, worked=True), heard, started, why)
            raise
        self._settle(heard.tokens(sent, worked=True), heard, started, "")
        return response

    def _settle(self, tokens: tuple[int, int], heard: Heard, started: float, error: str) -> None:
        """Write down what a request used, and tell the watcher."""
        sent, got = tokens
        cost = cost_of(
            self.choice,
            sent,
            got,
            cached_tokens=heard.usage.cache_read_tokens,
            written_tokens=heard.usage.cache_write_tokens,
        )
        self.usage.input_tokens += sent
        self.usage.output_tokens += got
        if cost is not None:
            self.usage.cost = (self.usage.cost or 0) + cost
        took = int((time.monotonic() - started) * 1000)
        summary = error or f"{sent} tokens in, {got} out"
        step = Step("model", self.choice.model, not error, took, summary, cost)
        self.usage.steps.append(step)
        self.watcher.after_request(step, input_tokens=sent, output_tokens=got)


def wait_for_next_try(error: Failed, pause: float, line: Line, choice: Choice) -> None:
    """Wait as long as the provider asks, else for about the pause. Raises the error where there is no next try."""
    if not error.again:
        raise error.error from None
    if error.after is None:
        # Spread, so that the runs of a batch do not come back all at once.
        line.pause(pause * random.uniform(0.75, 1.25))  # noqa: S311
    elif error.after < line.seconds_left():
        line.pause(error.after)
    else:
        raise waits_too_long(error.after, choice) from None
