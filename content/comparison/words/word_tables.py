"""Tables of the words that carry the meaning of a sentence: negations, modals, numbers, opposites and the like.

They are files, one a language: `word_tables/<language>.yaml` beside this module and in any installed app. A later
file adds to an earlier one, or takes words out of it. A broken file is left out and is an error of `manage.py check`.
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
"""Words of one entry: a text is looked through for phrases of up to so many."""
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_LONGEST_NUMBER: Final = 60
_SHORTEST_STEM: Final = 3
_VOWELS: Final = frozenset("aeiouáéíóúàèìòùâêîôûäëïöü")
_SHORTEST_PART: Final = 4
"""Letters of each of two words in one: shorter ones are found in any misspelled word."""
Phrase = tuple[str, ...]


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, in order; a hyphen divides, an apostrophe does not."""
    return _WORD.findall(text.replace("’", "'").lower())


def _split(value: object) -> object:
    """Words as they are written in a file, with commas between them, or a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _entry(value: str) -> str:
    words = words_of(value)
    if not words or len(words) > _MAX_WORDS:
        raise ValueError(f"an entry has one to {_MAX_WORDS} words, and {value!r} has {len(words)}")
    return value


def _pair(value: str) -> str:
    if value.count("/") != 1:
        raise ValueError(f"a pair is two entries with a / between them, and {value!r} is not")
    for side in value.split("/"):
        _entry(side)
    return value


def _suffix_pair(value: str) -> str:
    if value.count("/") != 1 or value == "/":
        raise ValueError(
            f"suffixes are two with a / between them, one may be empty, and {value!r} is not"
        )
    return value


Words = Annotated[tuple[Annotated[str, AfterValidator(_entry)], ...], BeforeValidator(_split)]
Parts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_split)]
Suffixes = Annotated[
    tuple[Annotated[str, AfterValidator(_suffix_pair)], ...], BeforeValidator(_split)
]
Pairs = Annotated[tuple[Annotated[str, AfterValidator(_pair)], ...], BeforeValidator(_split)]
Groups = dict[str, Words]
Values = dict[Annotated[str, AfterValidator(_entry)], float]


class RemovedWords(DefinitionPart):
    """Entries of earlier files that do not hold for this site."""

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
    """The content of a file. Groups are forms of one word, by the form that a reader is shown."""

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
    """Where words of a text are an entry: from `start` up to `stop`, and the canonical form of the entry."""

    start: int
    stop: int
    canonical: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Entries of one or more words, by their words, each with its canonical form."""

    forms: Mapping[Phrase, str] = field(default_factory=dict)
    longest: int = 0
    starts: frozenset[str] = frozenset()
    """The first words of all of them."""

    def __contains__(self, word: str) -> bool:
        return (word,) in self.forms

    def find(self, words: Sequence[str]) -> Iterator[Term]:
        """Return the entries in a text, the longest at each place, none within another."""
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
    """The words of one language. Empty where there is no table for it."""

    language: str = ""
    negations: Terms = Terms()
    modals: Terms = Terms()
    quantifiers: Terms = Terms()
    numbers: Mapping[Phrase, float] = field(default_factory=dict)
    """Cardinal numbers by their words."""
    ordinals: Mapping[Phrase, float] = field(default_factory=dict)
    number_terms: Terms = Terms()
    """Both of them, to be found in a text."""
    number_parts: re.Pattern[str] | None = None
    """What a number that is written in one word is made of."""
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
    """With their full stops, in small letters."""
    question_words: frozenset[str] = frozenset()
    function_words: frozenset[str] = frozenset()

    @property
    def is_complete(self) -> bool:
        """Return whether the words that carry meaning are known, so that one that is not among them carries none."""
        return bool(
            self.negations.forms
            and self.modals.forms
            and self.quantifiers.forms
            and self.numbers
            and self.opposites
        )

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text; what this language elides before an apostrophe is a word of its own."""
        words = words_of(text)
        if not self.elisions:
            return words
        found: list[str] = []
        for word in words:
            head, mark, rest = word.partition("'")
            found += [head, rest] if mark and head in self.elisions else [word]
        return found

    def is_number(self, word: str) -> bool:
        """Return whether a word is a number or made of numbers (einundzwanzig)."""
        if word in self.number_terms:
            return True
        parts = self.number_parts
        return (
            parts is not None and len(word) <= _LONGEST_NUMBER and parts.fullmatch(word) is not None
        )

    def stems(self, word: str) -> set[str]:
        """Return the word, and what remains of it without an ending."""
        found = {word}
        for ending in self.endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                stem = word[: -len(ending)]
                found |= {stem, stem + "e"}
                if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2]:
                    found.add(stem[:-1])  # stopped
        return found

    def opposites_of(self, word: str) -> set[str]:
        """Return the opposites of a word: by the table, and by what a word has more or less at an end."""
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
        """Return whether two words are opposites, in any of their forms."""
        return one != other and not self.opposites_of(one).isdisjoint(self.stems(other))

    def suffix_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the suffixes of opposites, written `ful/less`, in both directions."""
        for pair in self.suffixes:
            one, _, other = pair.partition("/")
            yield one, other
            yield other, one

    def is_made_of_listed(self, word: str, is_listed: Callable[[str], bool]) -> bool:
        """Return whether a word is a listed one with an ending, or two listed ones in one: no misspelled word then.

        *natively*, *hardcode*, *Goldimport* are in no list. `is_listed` is asked for words in small letters.
        """
        word = word.lower()
        for ending in self.endings:
            stem = word.removesuffix(ending)
            if (
                stem != word
                and len(stem) >= _SHORTEST_PART
                # Only a vowel takes the place of a last e: theming, but definitely.
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
        """Return whether a word is a negation, modal, quantifier, number, unit or opposite, in any of its forms."""
        word = word.replace("’", "'").lower()
        tables = (self.negations, self.modals, self.quantifiers, self.units, self.opposite_terms)
        return self.is_number(word) or any(
            stem in table for table in tables for stem in self.stems(word)
        )


@dataclass(frozen=True, slots=True)
class WordTables:
    """The tables of all languages, and what is wrong with their files."""

    tables: Mapping[str, WordTable]
    problems: tuple[Problem, ...]


def _from_yaml(text: str) -> object:
    """Every value as it is written: a plain `no` is a word, and neither of yes and no."""
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506  # it makes texts, lists and mappings only
    except (yaml.YAMLError, ValueError, RecursionError):
        from_yaml(text)  # says where
        raise Unreadable(("file", "it is no YAML")) from None


FILES: Final = DefinitionFiles(
    "word_tables", WordTableFile, {".yaml": _from_yaml, ".yml": _from_yaml}, lambda: None
)
_EMPTY: Final = WordTable()
_LOCK: Final = Lock()
_read: WordTables | None = None


def word_table(language: str) -> WordTable:
    """Return the table of a language by its tag, `de` for `de-AT`; an empty one where there is none."""
    tag = language.replace("_", "-").partition("-")[0].lower()
    return all_tables().tables.get(tag, _EMPTY)


def all_tables() -> WordTables:
    """Return the tables of all languages, read once."""
    global _read
    found = _read
    if found is None:
        with _LOCK:
            found = _read
            if found is None:
                found = _read = read_tables()
    return found


def reload() -> None:
    """Forget what was read; the next question reads the files again."""
    global _read
    with _LOCK:
        _read = None


def read_tables() -> WordTables:
    """Read the files of this module, then those of the apps, later ones adding to earlier ones."""
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
    tables = {language: _table(language, found) for language, found in sorted(files.items())}
    return WordTables(tables, tuple(problems))


def _table(language: str, files: Sequence[WordTableFile]) -> WordTable:
    groups: dict[str, dict[Phrase, str]] = {}
    values: dict[str, dict[Phrase, float]] = {"numbers": {}, "ordinals": {}}
    pairs: dict[Phrase, set[Phrase]] = {}
    plain: dict[str, dict[str, None]] = {}
    for file in files:
        taken = file.remove
        for phrase in map(_phrase_pair, taken.opposites):
            for one, other in (phrase, phrase[::-1]):
                pairs.get(one, set()).discard(other)
        for name in ("negations", "modals", "quantifiers", "units"):
            forms = groups.setdefault(name, {})
            for phrase_text in getattr(taken, name):
                forms.pop(_phrase(phrase_text), None)
            for canonical, words in getattr(file, name).items():
                forms |= {_phrase(word): canonical for word in words}
        for name, numbers in values.items():
            for word in getattr(taken, name):
                numbers.pop(_phrase(word), None)
            numbers |= {_phrase(word): value for word, value in getattr(file, name).items()}
        claims = groups.setdefault("claims", {})
        for word in taken.claims:
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
            for word in getattr(taken, name, ()):
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
        negations=_terms(groups["negations"]),
        modals=_terms(groups["modals"]),
        quantifiers=_terms(groups["quantifiers"]),
        numbers=values["numbers"],
        ordinals=values["ordinals"],
        number_terms=_terms(numbers_found),
        number_parts=re.compile(f"(?:{'|'.join(map(re.escape, parts))}){{2,9}}") if parts else None,
        units=_terms(groups["units"]),
        opposites=opposites,
        opposite_terms=_terms({phrase: " ".join(phrase) for phrase in opposites}),
        prefixes=tuple(plain["prefixes"]),
        suffixes=tuple(plain["suffixes"]),
        endings=tuple(plain["endings"]),
        joints=tuple(plain["joints"]),
        elisions=frozenset(plain["elisions"]),
        claims=_terms(groups["claims"]),
        abbreviations=frozenset(plain["abbreviations"]),
        question_words=frozenset(plain["question_words"]),
        function_words=frozenset(plain["function_words"]),
    )


def _phrase(text: str) -> Phrase:
    return tuple(words_of(text))


def _phrase_pair(text: str) -> tuple[Phrase, Phrase]:
    one, _, other = text.partition("/")
    return _phrase(one), _phrase(other)


def _terms(forms: Mapping[Phrase, str]) -> Terms:
    return Terms(forms, max(map(len, forms), default=0), frozenset(phrase[0] for phrase in forms))
