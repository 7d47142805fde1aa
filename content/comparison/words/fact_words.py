"""The words of a language in which figures, answers and negations are written, by keys that all languages share.

One file a language: `fact_words/<language>.yaml` beside this module. A language without a file has digits only.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

FOLDER: Final = Path(__file__).parent / "fact_words"


def _words(value: object) -> object:
    return value.split() if isinstance(value, str) else value


def _phrases(value: object) -> object:
    if isinstance(value, str):
        return [" ".join(part.split()) for part in value.split(",") if part.strip()]
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
Months = Annotated[tuple[Words, ...], AfterValidator(tuple)]


class FactWords(BaseModel):
    """The content of a file.

    `numbers` are certain; `soft_numbers` mean other things too (one, both, half): they may stand for a number of the
    other language, and are never missed by themselves. `softeners`, where `*` is any ending, stand in for a denial or
    turn one into something else (hardly, until, forget); `denial_particles` come with a denial, and alone may be one;
    `particle_negations` deny only together with one.
    `length` is how long a text is beside the same in English.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    decimal: str = "."
    length: float = 1.0
    numbers: dict[str, float] = Field(default_factory=dict)
    soft_numbers: dict[str, float] = Field(default_factory=dict)
    ordinals: dict[str, float] = Field(default_factory=dict)
    ordinal_endings: Words = ()
    scales: dict[str, float] = Field(default_factory=dict)
    joints: Words = ()
    months: Months = ()
    uncertain_months: Words = ()
    weekdays: Months = ()
    units: dict[str, Words] = Field(default_factory=dict)
    bounds: dict[str, Phrases] = Field(default_factory=dict)
    yes: Words = ()
    no: Words = ()
    negations: Words = ()
    particle_negations: Words = ()
    denial_particles: Words = ()
    softeners: Words = ()
    soft_prefixes: Words = ()
    soft_suffixes: Words = ()
    function_words: Words = ()


_NOTHING: Final = FactWords()


def language_of(locale: str) -> str:
    """The language of a locale: `de` of `de-AT`."""
    return locale.replace("_", "-").partition("-")[0].lower()


def fact_words(locale: str) -> FactWords:
    """Return the words of a language; empty for one without a file."""
    return _all_words().get(language_of(locale), _NOTHING)


def known_languages() -> tuple[str, ...]:
    """The languages that have a file."""
    return tuple(_all_words())


@cache
def _all_words() -> dict[str, FactWords]:
    return {
        path.stem: FactWords.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.yaml"))
    }
