"""Tables of the words that carry the meaning of a sentence: negations, modals, numbers, opposites and others.

Each language has files `word_tables/<language>.yaml` next to this module and in installed apps. Later files add
words to earlier ones or remove them. A broken file is skipped and is an error of `manage.py check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Final

import yaml
from pydantic import AfterValidator, BeforeValidator, Field

from proofroom.core.definition_files import (
    DefinitionFiles,
    DefinitionPart,
    FileDefinition,
    Problem,
    Unreadable,
    from_yaml,
)

SHIPPED: Final = Path(__file__).parent / "word_tables"
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[%#]")
_MAX_WORDS: Final = 6
"""Maximum number of words of an entry, which limits the search for phrases."""
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_LONGEST_NUMBER: Final = 60
_SHORTEST_STEM: Final = 3
_VOWELS: Final = frozenset("aeiouáéíóúàèìòùâêîôûäëïöü")
_SHORTEST_PART: Final = 4
"""Minimum number of letters of each part of a compound. Shorter words occur in any misspelled word."""
Phrase = tuple[str, ...]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, in order. A hyphen separates words, an apostrophe does not."""
    return _WORD.findall(text.replace("’", "'").lower())


def _split_commas(value: object) -> object:
    """Split comma-separated words of a file. Lists stay unchanged."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _validate_entry(value: str) -> str:
    words = words_of(value)
    if not words or len(words) > _MAX_WORDS:
        raise ValueError(f"an entry has one to {_MAX_WORDS} words, and {value!r} has {len(words)}")
    return value


def _validate_pair(value: str) -> str:
    if value.count("/") != 1:
        raise ValueError(f"a pair is two entries with a / between them, and {value!r} is not")
    for side in value.split("/"):
        _validate_entry(side)
    return value


def _validate_suffix_pair(value: str) -> str:
    if value.count("/") != 1 or value == "/":
        raise ValueError(
            f"suffixes are two with a / between them, one may be empty, and {value!r} is not"
        )
    return value


Words = Annotated[
    tuple[Annotated[str, AfterValidator(_validate_entry)], ...], BeforeValidator(_split_commas)
]
Parts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_split_commas)]
Suffixes = Annotated[
    tuple[Annotated[str, AfterValidator(_validate_suffix_pair)], ...],
    BeforeValidator(_split_commas),
]
Pairs = Annotated[
    tuple[Annotated[str, AfterValidator(_validate_pair)], ...], BeforeValidator(_split_commas)
]
Groups = dict[str, Words]
Values = dict[Annotated[str, AfterValidator(_validate_entry)], float]


class RemovedWords(DefinitionPart):
    """Entries of earlier files to remove for this site."""

    negations: Words = ()
    modals: Words = ()
    quantifiers: Words = ()
    numbers: Words = ()
    ordinals: Words = ()
    units: Words = ()
    opposites: Pairs = ()
    claims: Words = ()
    abbreviations: Parts = ()
    question_words: Words = ()
    function_words: Words = ()


class WordTableFile(FileDefinition):
    """The content of a file. A group maps the displayed form of a word to all its forms."""

    negations: Groups = Field(default_factory=dict)
    modals: Groups = Field(default_factory=dict)
    quantifiers: Groups = Field(default_factory=dict)
    numbers: Values = Field(default_factory=dict)
    ordinals: Values = Field(default_factory=dict)
    number_parts: Parts = ()
    units: Groups = Field(default_factory=dict)
    opposites: Pairs = ()
    prefixes: Parts = ()
    suffixes: Suffixes = ()
    endings: Parts = ()
    joints: Parts = ()
    elisions: Parts = ()
    claims: Words = ()
    abbreviations: Parts = ()
    question_words: Words = ()
    function_words: Words = ()
    remove: RemovedWords = RemovedWords()


@dataclass(frozen=True, slots=True)
class Term:
    """An occurrence of an entry in a text: words `start` to `stop` (exclusive), and its canonical form."""

    start: int
    stop: int
    canonical: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Canonical forms by entry. An entry has one or more words."""

    forms: Mapping[Phrase, str] = field(default_factory=dict)
    longest: int = 0
    starts: frozenset[str] = frozenset()
    """First words of all entries."""

    def __contains__(self, word: str) -> bool:
        return (word,) in self.forms

    def find(self, words: Sequence[str]) -> Iterator[Term]:
        """Yield the entries in a text without overlaps, the longest at each position."""
        at = 0
        while at < len(words):
            if words[at] not in self.starts:
                at += 1
                continue
            for length in range(min(self.longest, len(words) - at), 0, -1):
                canonical = self.forms.get(tuple(words[at : at + length]))
                if canonical is not None:
                    yield Term(at, at + length, canonical)
                    at += length
                    break
            else:
                at += 1


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words of one language. Empty if it has no table."""

    language: str = ""
    negations: Terms = Terms()
    modals: Terms = Terms()
    quantifiers: Terms = Terms()
    numbers: Mapping[Phrase, float] = field(default_factory=dict)
    """Cardinal numbers by their words."""
    ordinals: Mapping[Phrase, float] = field(default_factory=dict)
    number_terms: Terms = Terms()
    """Cardinal and ordinal numbers, for searching."""
    number_parts: re.Pattern[str] | None = None
    """Pattern of a number in one word."""
    units: Terms = Terms()
    opposites: Mapping[Phrase, frozenset[Phrase]] = field(default_factory=dict)
    opposite_terms: Terms = Terms()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    elisions: frozenset[str] = frozenset()
    claims: Terms = Terms()
    abbreviations: frozenset[str] = frozenset()
    """Abbreviations in lower case, with full stops."""
    question_words: frozenset[str] = frozenset()
    function_words: frozenset[str] = frozenset()

    @property
    def is_complete(self) -> bool:
        """True if all kinds of words with a meaning are listed, so that other words have none."""
        return bool(
            self.negations.forms
            and self.modals.forms
            and self.quantifiers.forms
            and self.numbers
            and self.opposites
        )

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text. Words elided before an apostrophe are separate words."""
        words = words_of(text)
        if not self.elisions:
            return words
        found: list[str] = []
        for word in words:
            head, mark, rest = word.partition("'")
            found += [head, rest] if mark and head in self.elisions else [word]
        return found

    def is_number(self, word: str) -> bool:
        """Return whether a word is a number or is made of numbers (einundzwanzig)."""
        if word in self.number_terms:
            return True
        parts = self.number_parts
        return (
            parts is not None and len(word) <= _LONGEST_NUMBER and parts.fullmatch(word) is not None
        )

    def stems(self, word: str) -> set[str]:
        """Return the word and its forms without an ending."""
        found = {word}
        for ending in self.endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                stem = word[: -len(ending)]
                # The ending may have replaced a final e: making, make.
                found |= {stem, stem + "e"}
                if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2]:
                    found.add(stem[:-1])  # stopped, stop
        return found

    def opposites_of(self, word: str) -> set[str]:
        """Return the opposites of a word, by the table and by prefixes and suffixes."""
        found: set[str] = set()
        for stem in self.stems(word):
            found |= {
                other[0] for other in self.opposites.get((stem,), frozenset()) if len(other) == 1
            }
            for prefix in self.prefixes:
                rest = stem.removeprefix(prefix)
                if len(stem) >= _SHORTEST_STEM:
                    found.add(prefix + stem)
                if rest != stem and len(rest) >= _SHORTEST_STEM:
                    found.add(rest)
            for suffix, other_suffix in self.suffix_pairs():
                if stem.endswith(suffix) and len(stem) - len(suffix) >= _SHORTEST_STEM:
                    found.add(stem.removesuffix(suffix) + other_suffix)
        return found

    def are_opposites(self, one: str, other: str) -> bool:
        """Return whether two words are opposites in any of their forms."""
        return one != other and not self.opposites_of(one).isdisjoint(self.stems(other))

    def suffix_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the suffixes of opposites, such as `ful/less`, in both directions."""
        for pair in self.suffixes:
            one, _, other = pair.partition("/")
            yield one, other
            yield other, one

    def is_made_of_listed(self, word: str, is_listed: Callable[[str], bool]) -> bool:
        """Return whether a word is a compound of two listed words or a listed word with an ending.

        Such words (*natively*, *hardcode*, *Goldimport*) are missing from lists but not misspelled. `is_listed`
        gets lower-case words.
        """
        word = word.lower()
        for ending in self.endings:
            stem = word.removesuffix(ending)
            if (
                stem != word
                and len(stem) >= _SHORTEST_PART
                # Only an ending with a vowel replaces a final e: theming, but definitely.
                and (is_listed(stem) or (ending[0] in _VOWELS and is_listed(stem + "e")))
            ):
                return True
        for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            head, tail = word[:at], word[at:]
            if is_listed(tail) and (
                is_listed(head) or any(is_listed(head.removesuffix(joint)) for joint in self.joints)
            ):
                return True
        return False

    def carries_meaning(self, word: str) -> bool:
        """Return whether a word is a negation, modal, quantifier, number, unit or opposite in any form."""
        word = word.replace("’", "'").lower()
        tables = (self.negations, self.modals, self.quantifiers, self.units, self.opposite_terms)
        return self.is_number(word) or any(
            stem in table for table in tables for stem in self.stems(word)
        )


@dataclass(frozen=True, slots=True)
class WordTables:
    """The tables of all languages, and the problems of their files."""

    tables: Mapping[str, WordTable]
    problems: tuple[Problem, ...]


def _from_yaml(text: str) -> object:
    """Parse YAML with all scalars as text."""
    # A plain `no` must stay a word. `CBaseLoader` does not convert it to a boolean.
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506  # creates only strings, lists and mappings
    except (yaml.YAMLError, ValueError, RecursionError):
        from_yaml(text)  # raises Unreadable with the position, if it can
        raise Unreadable(("file", "it is no YAML")) from None


FILES: Final = DefinitionFiles(
    "word_tables", WordTableFile, {".yaml": _from_yaml, ".yml": _from_yaml}, lambda: None
)
_EMPTY: Final = WordTable()
_LOCK: Final = Lock()
_loaded: WordTables | None = None


def word_table(language: str) -> WordTable:
    """Return the table for a language tag, such as `de` for `de-AT`. Empty if it has none."""
    tag = language.replace("_", "-").partition("-")[0].lower()
    return all_tables().tables.get(tag, _EMPTY)


def all_tables() -> WordTables:
    """Return the tables of all languages, loaded once."""
    global _loaded
    # Double-checked locking: the lock is only needed until the tables are loaded.
    found = _loaded
    if found is None:
        with _LOCK:
            found = _loaded
            if found is None:
                found = _loaded = read_tables()
    return found


def reload() -> None:
    """Drop the loaded tables. The next call loads the files again."""
    global _loaded
    with _LOCK:
        _loaded = None


def read_tables() -> WordTables:
    """Load the files of this package, then the files of apps, which add to them."""
    files: dict[str, list[WordTableFile]] = {}
    problems: list[Problem] = []
    for folder in (SHIPPED, *FILES.folders()):
        for path in sorted(folder.iterdir()):
            if path.suffix not in FILES.readers or path.name.startswith(("_", ".")):
                continue
            try:
                files.setdefault(path.stem, []).append(FILES.read_file(path))
            except Unreadable as error:
                problems += [Problem(path, key, reason) for key, reason in error.problems]
    tables = {language: _build_table(language, found) for language, found in sorted(files.items())}
    return WordTables(tables, tuple(problems))


def _build_table(language: str, files: Sequence[WordTableFile]) -> WordTable:
    groups: dict[str, dict[Phrase, str]] = {}
    values: dict[str, dict[Phrase, float]] = {"numbers": {}, "ordinals": {}}
    pairs: dict[Phrase, set[Phrase]] = {}
    plain: dict[str, dict[str, None]] = {}
    # The removals of a file come before its additions, so that it can replace an entry.
    for file in files:
        removed = file.remove
        for phrase in map(_phrase_pair, removed.opposites):
            for one, other in (phrase, phrase[::-1]):
                pairs.get(one, set()).discard(other)
        for name in ("negations", "modals", "quantifiers", "units"):
            forms = groups.setdefault(name, {})
            for phrase_text in getattr(removed, name):
                forms.pop(_phrase(phrase_text), None)
            for canonical, words in getattr(file, name).items():
                forms |= {_phrase(word): canonical for word in words}
        for name, numbers in values.items():
            for word in getattr(removed, name):
                numbers.pop(_phrase(word), None)
            numbers |= {_phrase(word): value for word, value in getattr(file, name).items()}
        claims = groups.setdefault("claims", {})
        for word in removed.claims:
            claims.pop(_phrase(word), None)
        claims |= {_phrase(word): word for word in file.claims}
        for one, other in map(_phrase_pair, file.opposites):
            pairs.setdefault(one, set()).add(other)
            pairs.setdefault(other, set()).add(one)
        for name in (
            "number_parts", "prefixes", "suffixes", "endings", "joints", "elisions", "abbreviations",
            "question_words", "function_words",
        ):  # fmt: skip
            words_so_far = plain.setdefault(name, {})
            for word in getattr(removed, name, ()):
                words_so_far.pop(word.lower(), None)
            words_so_far |= dict.fromkeys(word.lower() for word in getattr(file, name))
    opposites = {one: frozenset(others) for one, others in pairs.items() if others}
    numbers_found = {
        **{phrase: f"{value:g}." for phrase, value in values["ordinals"].items()},
        **{phrase: f"{value:g}" for phrase, value in values["numbers"].items()},
    }
    parts = sorted(plain["number_parts"], key=len, reverse=True)
    return WordTable(
        language=language,
        negations=_build_terms(groups["negations"]),
        modals=_build_terms(groups["modals"]),
        quantifiers=_build_terms(groups["quantifiers"]),
        numbers=values["numbers"],
        ordinals=values["ordinals"],
        number_terms=_build_terms(numbers_found),
        number_parts=re.compile(f"(?:{'|'.join(map(re.escape, parts))}){{2,9}}") if parts else None,
        units=_build_terms(groups["units"]),
        opposites=opposites,
        opposite_terms=_build_terms({phrase: " ".join(phrase) for phrase in opposites}),
        prefixes=tuple(plain["prefixes"]),
        suffixes=tuple(plain["suffixes"]),
        endings=tuple(plain["endings"]),
        joints=tuple(plain["joints"]),
        elisions=frozenset(plain["elisions"]),
        claims=_build_terms(groups["claims"]),
        abbreviations=frozenset(plain["abbreviations"]),
        question_words=frozenset(plain["question_words"]),
        function_words=frozenset(plain["function_words"]),
    )


def _phrase(text: str) -> Phrase:
    return tuple(words_of(text))


def _phrase_pair(text: str) -> tuple[Phrase, Phrase]:
    one, _, other = text.partition("/")
    return _phrase(one), _phrase(other)


def _build_terms(forms: Mapping[Phrase, str]) -> Terms:
    return Terms(forms, max(map(len, forms), default=0), frozenset(phrase[0] for phrase in forms))
