"""The words for figures, answers and negations of each language, with keys common to all languages.

Each language has a file `fact_words/<language>.yaml` next to this module. Without a file, only digits are recognised.
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

    - `numbers` are certain. `soft_numbers` have other meanings too (one, both, half): they can match a number of
      the other language, and are never reported as missing.
    - `softeners` replace a negation or change its meaning (hardly, until, forget). `*` matches any ending.
    - `denial_particles` accompany a negation, and can negate alone. `particle_negations` only negate with a particle.
    - `length`: length of a text relative to the same text in English.
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


_EMPTY: Final = FactWords()


def language_of(locale: str) -> str:
    """Return the language of a locale, such as `de` for `de-AT`."""
    return locale.replace("_", "-").partition("-")[0].lower()


def fact_words(locale: str) -> FactWords:
    """Return the words of a language, empty if it has no file."""
    return _all_words().get(language_of(locale), _EMPTY)


def known_languages() -> tuple[str, ...]:
    """Return the languages with a file."""
    return tuple(_all_words())


@cache
def _all_words() -> dict[str, FactWords]:
    return {
        path.stem: FactWords.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.yaml"))
    }
