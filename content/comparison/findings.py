"""Findings in a comparison: lines proven harmless, and points that a reviewer must look at.

`examine` reads only the texts. It returns the words that must be looked up on the site, so that one query serves
all changes of a post. `conclude` takes the results. Pure functions, except for the word lists.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from content.comparison.facts import find_names
from content.comparison.harmless import Spelling, prove
from content.comparison.words.dictionary import is_listed, word_list
from content.comparison.words.language_detection import detect_language
from content.document.differences import Comparison, Difference, DiffLine
from proofroom.core.i18n.words import compile_pattern

_WORD: Final = compile_pattern(r"[\p{L}\p{M}\p{N}]+(?:['’.,:/-][\p{L}\p{M}\p{N}]+)*")
_LETTERS: Final = compile_pattern(r"[\p{L}\p{M}]+")
_NUMBER: Final = compile_pattern(r"\d+(?:[.,:/]\d+)*")
_MOST_CANDIDATES: Final = 40
"""Maximum number of names and numbers of one change to look up. More would not make the change safer."""
_LEAST_SHORTENED: Final = 12
"""Minimum number of words of a text for reporting that it became much shorter."""
_MOST_MOVED: Final = 20
_FEW_WORDS: Final = 3
"""Maximum number of words of a stretch that one fact in it describes completely."""


@dataclass(frozen=True, slots=True)
class Findings:
    """`proven`: numbers of lines whose text differs harmlessly. `found`: the other findings by line number."""

    proven: frozenset[int] = frozenset()
    found: tuple[tuple[int, Difference], ...] = ()

    def with_found(self, others: Iterable[Difference]) -> Findings:
        """Return the findings with others about the whole change. Only one finding "language" remains."""
        has_language = any(one.kind == "language" for _, one in self.found)
        added = ((0, one) for one in others if not (has_language and one.kind == "language"))
        return replace(self, found=(*self.found, *added))


NO_FINDINGS: Final = Findings()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name or number in new text. It is grounded if all its words occur elsewhere."""

    line: int
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    """Findings from the texts of a comparison, and words to look up on the site."""

    comparison: Comparison
    spellings: dict[int, tuple[Spelling, ...]] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    found: tuple[tuple[int, Difference], ...] = ()

    @property
    def spelled(self) -> set[str]:
        """The words that a spelling correction replaces."""
        return {one.before.lower() for line in self.spellings.values() for one in line}

    @property
    def asked(self) -> set[str]:
        """The words of new names and numbers."""
        return {word for one in self.candidates for word in one.words}


def examine(
    comparison: Comparison, language: str, *, length: int = 0, limit: int | None = None
) -> Examination:
    """Examine the texts of a comparison. `length`: characters of the new value. `limit`: advised maximum."""
    spellings: dict[int, tuple[Spelling, ...]] = {}
    others: list[int] = []
    for number, line in enumerate(comparison.lines):
        if not _has_text(line):
            continue
        before, after = _old_and_new_text(line)
        proof = prove(before, after, language) if before and after else None
        if proof is None:
            others.append(number)
        else:
            spellings[number] = proof
    found: list[tuple[int, Difference]] = []
    first = next((at for at, line in enumerate(comparison.lines) if line.differences), 0)
    if (of_length := _length_finding(comparison, length, limit)) is not None:
        found.append((first, of_length))
    if others:
        found += _language_findings(comparison, others, language)
    found += _move_findings(comparison)
    return Examination(
        comparison, spellings, tuple(_candidates(comparison, others, language)), tuple(found)
    )


def conclude(asked: Examination, *, used: Container[str], known: Container[str]) -> Findings:
    """Return the findings of an examination.

    `used`: misspelled words that occur elsewhere, which are probably not typing errors. `known`: words of the
    post, its sources and the site, in lower case.
    """
    comparison = asked.comparison
    # A "misspelled" word that occurs elsewhere on the site may be intended, so its correction is not proven.
    proven = frozenset(
        number
        for number, spellings in asked.spellings.items()
        if not any(one.before.lower() in used for one in spellings)
    )
    found = list(asked.found)
    for one in asked.candidates:
        if any(word not in known for word in one.words):
            place = comparison.lines[one.line].place
            found.append((one.line, Difference("ungrounded", place, None, one.text, is_fact=True)))
    found += _rewordings(comparison, proven)
    return Findings(proven, tuple(found))


def numbers_and_words(text: str) -> Iterator[str]:
    """Yield the numbers and words of a text, in lower case, in the form of the words of `Candidate`."""
    for match in _NUMBER.finditer(text):
        yield match[0]
    for match in _LETTERS.finditer(text):
        yield match[0].lower()


def is_named_by_fact(difference: Difference, line: DiffLine) -> bool:
    """Return whether a fact describes a short text difference completely, such as "40 → 45"."""
    return (
        difference.kind in ("text", "space")
        and any(other.is_fact and other.passage == difference.passage for other in line.differences)
        and all(
            len(side.split()) <= _FEW_WORDS
            for side in (difference.before, difference.after)
            if isinstance(side, str)
        )
    )


def _has_text(line: DiffLine) -> bool:
    return (
        bool(line.segments)
        and not line.is_code
        and any(one.kind in ("text", "space") for one in line.differences)
    )


def _old_and_new_text(line: DiffLine) -> tuple[str, str]:
    before = "".join(part.text for part in line.segments if part.kind != "inserted")
    after = "".join(part.text for part in line.segments if part.kind != "removed")
    return before, after


def _inserted(line: DiffLine) -> str:
    return " ".join(part.text for part in line.segments if part.kind == "inserted")


def _removed(line: DiffLine) -> str:
    return " ".join(part.text for part in line.segments if part.kind == "removed")


def _count(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _length_finding(comparison: Comparison, length: int, limit: int | None) -> Difference | None:
    old, new = comparison.words_before, comparison.words_after
    if limit is not None and length > limit:
        return Difference("length", (), None, str(length), "characters", is_fact=True)
    # At most a third of the text remains.
    if old >= _LEAST_SHORTENED and 0 < 3 * new <= old:
        return Difference("length", (), str(old), str(new), "words", is_fact=True)
    return None


def _language_findings(
    comparison: Comparison, numbers: Iterable[int], language: str
) -> Iterator[tuple[int, Difference]]:
    """Yield the first new text in another language than the post, unless the old text was in that language too."""
    expected = language[:2].lower()
    for number in numbers:
        before, after = _old_and_new_text(comparison.lines[number])
        # Check the inserted words alone too: in a long text they would not change the result.
        for text in dict.fromkeys((after, _inserted(comparison.lines[number]))):
            found = detect_language(text, language, is_listed) if text.strip() else None
            if found is None or found == expected:
                continue
            if before and detect_language(before, language, is_listed) == found:
                continue
            place = comparison.lines[number].place
            yield number, Difference("language", place, expected, found, is_fact=True)
            return


def _move_findings(comparison: Comparison) -> Iterator[tuple[int, Difference]]:
    """Yield the texts that moved unchanged from one place to another."""
    gone: dict[str, list[DiffLine]] = {}
    for line in comparison.lines:
        if line.segments and all(part.kind == "removed" for part in line.segments):
            gone.setdefault(_old_and_new_text(line)[0].strip(), []).append(line)
    moved = 0
    for number, line in enumerate(comparison.lines if gone else ()):
        if not line.segments or any(part.kind != "inserted" for part in line.segments):
            continue
        text = _old_and_new_text(line)[1].strip()
        if text and gone.get(text) and moved < _MOST_MOVED:
            # Each removed text is the origin of one move only.
            origin = gone[text].pop(0)
            moved += 1
            old, new = (" › ".join((*side.place, side.role)).strip(" ›") for side in (origin, line))
            yield number, Difference("moved", line.place, old, new, is_fact=True)


def _candidates(
    comparison: Comparison, numbers: Iterable[int], language: str
) -> Iterator[Candidate]:
    seen: set[str] = set()
    for number in numbers:
        line = comparison.lines[number]
        inserted = _inserted(line)
        if not inserted.strip():
            continue
        old = set(numbers_and_words(_old_and_new_text(line)[0]))
        for match in _NUMBER.finditer(inserted):
            if match[0] not in old and match[0] not in seen and len(seen) < _MOST_CANDIDATES:
                seen.add(match[0])
                yield Candidate(number, match[0], (match[0],))
        if not any(map(str.isupper, inserted)):
            continue
        there = set(_LETTERS.findall(inserted))
        for name in _names(_old_and_new_text(line)[1], inserted, language):
            words = tuple(
                word.lower()
                for word in _LETTERS.findall(name)
                if word in there and word.lower() not in old and not is_listed(word, language)
            )
            if words and name not in seen and len(seen) < _MOST_CANDIDATES:
                seen.add(name)
                yield Candidate(number, name, words)


def _names(text: str, inserted: str, language: str) -> Iterable[str]:
    """Return the names in new words: by their capitals, and all capitalised words that are not in the word list."""
    code = language[:2].lower()
    found = find_names(text, language if code in ("en", "de") else "en")
    # In German every noun is capitalised, and no list has all compounds.
    if code == "de" or word_list(language) is None:
        return found
    capitalised = (word for word in _LETTERS.findall(inserted) if word[0].isupper())
    return dict.fromkeys((*found, *capitalised))


def _rewordings(comparison: Comparison, proven: frozenset[int]) -> Iterator[tuple[int, Difference]]:
    """Yield the amounts of new and of reworded text, each once for the whole change."""
    new = changed = of = 0
    places: dict[str, int] = {}
    pair: tuple[str, str] | None = None
    for number, line in enumerate(comparison.lines):
        if number in proven or not _has_text(line):
            continue
        gone, come = _removed(line), _inserted(line)
        texts = [one for one in line.differences if one.kind in ("text", "space")]
        if all(one.is_default or is_named_by_fact(one, line) for one in texts):
            continue
        if _count(come) and not _count(gone):
            new += _count(come)
            places.setdefault("new-text", number)
        elif _count(come) or gone.strip() or come.strip():
            if not come.strip():
                continue
            words = _WORD.findall(gone), _WORD.findall(come)
            is_pair = not changed and len(words[0]) == 1 == len(words[1])
            pair = (words[0][0], words[1][0]) if is_pair else None
            changed += max(len(words[0]), len(words[1])) or 1
            of += _count(_old_and_new_text(line)[1])
            places.setdefault("rewording", number)
    if new:
        yield places["new-text"], Difference("new-text", (), None, str(new), is_fact=True)
    if not changed:
        return
    number = places["rewording"]
    if changed == 1 and pair is not None:
        yield number, Difference("rewording", (), *pair, "word", is_fact=True)
    else:
        share = f"{changed}/{max(of, changed)}"
        yield number, Difference("rewording", (), None, share, is_fact=True)
