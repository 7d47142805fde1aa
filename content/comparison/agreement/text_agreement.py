"""A text beside its translation: what one says that the other does not. Rather something is missed than made up."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from content.comparison.agreement.figures import Figure, find_figures
from content.comparison.words.fact_words import fact_words, known_languages, language_of

MAX_TEXT: Final = 10_000
"""Characters of one text that is read word by word: a paragraph has fewer."""
_ADDRESS: Final = re.compile(
    r"https?://[^\s<>()\"']{1,2000}|(?<!\w)www\.[^\s<>()\"']{1,2000}|(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}\w{2,20}"
)
_PLACEHOLDER: Final = re.compile(
    r"\{\{[^{}]{1,200}\}\}|\$\{[^{}]{1,200}\}|\{[\w.]{0,60}\}|%\(\w{1,60}\)[sdif]|(?<![\d\s]\s)(?<!\d)%[sd]\b"
    r"|(?<![\w:/]):[a-z_]{2,40}\b(?!:)|&(?:[a-zA-Z]{2,10}|#\d{2,6});|</?(?!su[bp]>|em>|strong>|[bi]>|br)[a-zA-Z][^<>]{0,200}>"
)
_TYPOGRAPHY: Final = frozenset(
    f"&{name};"
    for name in (
        "nbsp",
        "amp",
        "quot",
        "laquo",
        "raquo",
        "bdquo",
        "ldquo",
        "rdquo",
        "lsquo",
        "rsquo",
        "shy",
    )
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{4}")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])[\"”’»)]*\s+(?=[^\Wa-zß-ÿ\d_]|[¿¡„«“\"])|\n+")
_NAME: Final = re.compile(
    r"(?<![\w-])(?:[a-z]?[A-Z][a-z]+(?:[A-Z]+[a-z]*)+|[a-z]{1,2}[A-Z][A-Za-z]+|[A-Za-z]+\d+[A-Za-z\d]*)(?![\w])"
)
_NO_NAME: Final = re.compile(r"[A-Z]{2,}s|[QHST]\d|PhD|WiFi|[a-z]\d{1,2}", re.ASCII)
_ANSWER: Final = re.compile(r"[\s\"'„“«¿¡(]*([^\W\d_]+)(?=\s*[,.!:;—–-]|\s*$)")
_OPENING: Final = re.compile(r"[\s\"'„“«¿¡(]*([^\W\d_]+)")
_CAPITALISED: Final = re.compile(r"(?<![\w’'-])[^\W\d_a-zß-ÿ][^\W\d_]+(?:[’'-][^\W\d_]+)*")
_LENGTH_FROM: Final = 100
"""Characters of a source from which a translation of an unusual length says something."""
_MIN_DETECTED: Final = 6
"""Words of a text whose language is asked."""
_LANGUAGE_MARK: Final = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextMismatch:
    """What two texts do not agree on, as each has it; empty where one has nothing of it."""

    kind: str
    source: str
    target: str


def compare_texts(
    source: str, target: str, source_locale: str, target_locale: str
) -> list[TextMismatch]:
    """Return what a text and its translation do not agree on. Both are one paragraph, heading, item or cell."""
    if source == target:
        # What is only copied says nothing wrong: whether it is translated, others ask.
        return list(_languages(source, target, source_locale, target_locale))
    if max(len(source), len(target)) > MAX_TEXT:
        found = [*_languages(source, target, source_locale, target_locale)]
        return [*found, *_compare_length(source, target, source_locale, target_locale)]
    return list(_compare(source, target, source_locale, target_locale))


@lru_cache(maxsize=2048)
def _compare(
    source: str, target: str, source_locale: str, target_locale: str
) -> tuple[TextMismatch, ...]:
    found = list(_languages(source, target, source_locale, target_locale))
    if found and found[0].kind == "language":
        return tuple(found)
    found += _compare_sets("placeholder", *map(_placeholders, (source, target)))
    left, right = (_PLACEHOLDER.sub(" ", _ADDRESS.sub(" ", text)) for text in (source, target))
    found += _compare_figures(left, right, source_locale, target_locale)
    found += _compare_named_days(left, right, source_locale, target_locale)
    found += _compare_bounds(left, right, source_locale, target_locale)
    found += _compare_answers(left, right, source_locale, target_locale)
    found += _compare_names(left, right, source_locale, target_locale)
    found += _compare_length(source, target, source_locale, target_locale)
    return tuple(found)


def addresses_in(text: str) -> list[str]:
    """The addresses that stand in a text in letters."""
    return [found.rstrip(".,;:!?") for found in _ADDRESS.findall(text[:MAX_TEXT])]


# Language


def detect_language(text: str, candidates: Collection[str]) -> str:
    """The language of a text among the candidates by its commonest words; empty where they do not tell."""
    plain = _PLACEHOLDER.sub(" ", _ADDRESS.sub(" ", text[:MAX_TEXT]))
    words = [word.lower() for word in _PLAIN_WORD.findall(plain)]
    if len(words) < _MIN_DETECTED:
        return ""
    scores = dict.fromkeys(candidates, 0.0)
    for word in words:
        # A word of several languages says less.
        having = [language for language in candidates if word in _common_words(language)]
        for language in having:
            scores[language] += 1 / len(having)
    ranked = sorted(scores.values(), reverse=True)
    if not ranked or ranked[0] < max(2, len(words) / 8):
        return ""
    if len(ranked) > 1 and ranked[1] * 1.5 > ranked[0]:
        return ""
    return max(scores, key=lambda language: scores[language])


@cache
def _common_words(language: str) -> frozenset[str]:
    words = fact_words(language)
    return frozenset((*words.function_words, *words.negations))


def _languages(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    ours, theirs = language_of(source_locale), language_of(target_locale)
    if ours == theirs:
        return
    found = detect_language(target, known_languages())
    if found and found != theirs and (theirs in known_languages() or found == ours):
        yield TextMismatch("language", theirs, found)


# Placeholders, figures, days


def _placeholders(text: str) -> list[str]:
    return [found for found in _PLACEHOLDER.findall(text) if found not in _TYPOGRAPHY]


def _compare_sets(kind: str, source: Sequence[str], target: Sequence[str]) -> list[TextMismatch]:
    gone, come = Counter(source) - Counter(target), Counter(target) - Counter(source)
    return _paired(kind, list(gone.elements()), list(come.elements()))


def _paired(kind: str, gone: Sequence[str], come: Sequence[str]) -> list[TextMismatch]:
    length = max(len(gone), len(come))
    left, right = ([*side, *[""] * (length - len(side))] for side in (gone, come))
    return [TextMismatch(kind, one, other) for one, other in zip(left, right, strict=True)]


def _compare_figures(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    left, right = unmatched_figures(
        find_figures(source, source_locale), find_figures(target, target_locale)
    )
    # The same number with another unit, then what is of one kind, then what is left.
    pairs: list[tuple[Figure | None, Figure | None]] = []
    for is_pair in (_is_other_unit, _is_of_a_kind, _is_any):
        for one in list(left):
            other = next((figure for figure in right if is_pair(one, figure)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
                pairs.append((one, other))
    pairs += [(one, None) for one in left if _is_missed(one)]
    pairs += [(None, other) for other in right if _is_missed(other)]
    for left_one, right_one in pairs:
        yield _figures_differ(left_one, right_one)


def _figures_differ(one: Figure | None, other: Figure | None) -> TextMismatch:
    kinds = [figure.kind for figure in (one, other) if figure is not None]
    kind: str = kinds[0]
    if one is not None and other is not None and _is_other_unit(one, other):
        kind = "unit"
    elif "price" in kinds:
        kind = "price"
    elif kind == "unit":
        kind = "number"
    return TextMismatch(kind, one.shown if one else "", other.shown if other else "")


def unmatched_figures(
    source: Sequence[Figure], target: Sequence[Figure]
) -> tuple[list[Figure], list[Figure]]:
    """The figures of each side that the other does not have."""
    left, right = list(source), list(target)
    for is_soft_too in (False, True):
        for one in list(left):
            if one.is_soft and not is_soft_too:
                continue
            agreeing = [other for other in right if one.agrees(other)]
            if agreeing:
                # What is as certain first, and what has the same unit.
                best = min(
                    agreeing,
                    key=lambda other: (
                        other.is_soft != one.is_soft, other.unit != one.unit, other.is_ordinal != one.is_ordinal,
                    ),
                )  # fmt: skip
                left.remove(one)
                right.remove(best)
    # A date or time that the other language spreads over its sentence.
    ours, theirs = (Counter(atom for one in side for atom in one.atoms()) for side in (left, right))
    both = ours & theirs
    return _not_in(left, Counter(both)), _not_in(right, Counter(both))


def _not_in(figures: Sequence[Figure], atoms: Counter[tuple[str, float]]) -> list[Figure]:
    found: list[Figure] = []
    for figure in figures:
        needed = Counter(figure.atoms())
        if needed and needed <= atoms and not (figure.unit and figure.kind != "date"):
            atoms -= needed
        else:
            found.append(figure)
    return found


def _is_other_unit(one: Figure, other: Figure) -> bool:
    return bool(one.unit and other.unit and one.unit != other.unit and one.values & other.values)


def _is_of_a_kind(one: Figure, other: Figure) -> bool:
    if one.is_ordinal or other.is_ordinal:
        return one.is_ordinal and other.is_ordinal
    return one.kind == other.kind and not (one.is_soft or other.is_soft)


def _is_any(one: Figure, other: Figure) -> bool:
    return not (one.is_soft and other.is_soft) and not (one.is_ordinal or other.is_ordinal)


def _is_missed(figure: Figure) -> bool:
    """Return whether a figure without its like is more than a turn of phrase (both, a pair, 24/7)."""
    if figure.is_soft:
        return False
    return not (figure.is_word and not figure.unit and figure.values and min(figure.values) <= 2)


def _compare_named_days(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    """Days of the week and months without a day, where both name some and not the same."""
    for name in ("weekdays", "months"):
        left, right = (
            _named(text, locale, name)
            for text, locale in ((source, source_locale), (target, target_locale))
        )
        gone, come = (
            {at for at, _ in one} - {at for at, _ in other}
            for one, other in ((left, right), (right, left))
        )
        if gone and come:
            yield from _paired(
                "date",
                [word for at, word in left if at in gone],
                [word for at, word in right if at in come],
            )


def _named(text: str, locale: str, name: str) -> list[tuple[int, str]]:
    words = fact_words(locale)
    by_word = {
        word: at
        for at, names in enumerate(getattr(words, name))
        for word in names
        if len(word) > 3 or word in ("may", "mai")
    }
    found: list[tuple[int, str]] = []
    for match in _PLAIN_WORD.finditer(text):
        word = match[0].lower()
        if word in by_word and (
            word not in words.uncertain_months
            or (match[0][0].isupper() and match.start() and text[match.start() - 2] not in ".!?")
        ):
            found.append((by_word[word], match[0]))
    return found


def _compare_bounds(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    """`at most` that became `at least`, and signs of comparison."""
    for one, other in (("≤", "≥"), ("≥", "≤"), ("<", ">"), (">", "<")):
        if one in source and one not in target and other in target and other not in source:
            yield TextMismatch("number", one, other)
    left, right = (
        _bounds(text, locale) for text, locale in ((source, source_locale), (target, target_locale))
    )
    for one, other in (("most", "least"), ("least", "most"), ("more", "less"), ("less", "more")):
        if one in left and one not in right and other in right and other not in left:
            yield TextMismatch("number", left[one], right[other])


def _bounds(text: str, locale: str) -> dict[str, str]:
    """The bounds that a text sets, each before a number."""
    lower = text.lower()
    numbers = [figure.start for figure in find_figures(text, locale)]
    found: dict[str, str] = {}
    for kind, phrases in fact_words(locale).bounds.items():
        for phrase in phrases:
            for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", lower):
                if any(0 <= start - match.end() <= 3 for start in numbers):
                    found[kind] = phrase
    # "nicht mehr als" has "mehr als" in it.
    if "most" in found:
        found.pop("more", None)
    if "least" in found:
        found.pop("less", None)
    return found


# Answers and negation


def _compare_answers(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    left, right = _sentences(source), _sentences(target)
    if len(left) != len(right):
        left, right = left[:1], right[:1]
        is_whole = False
    else:
        is_whole = True
    for one, other in zip(left, right, strict=False):
        ours, theirs = _answer(one, source_locale), _answer(other, target_locale)
        if ours and theirs and ours[0] != theirs[0]:
            yield TextMismatch("answer", ours[1], theirs[1])
        elif is_whole:
            yield from _compare_negation(one, other, source_locale, target_locale)
    if not is_whole:
        yield from _compare_negation(source, target, source_locale, target_locale)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()]


def _answer(sentence: str, locale: str) -> tuple[bool, str] | None:
    words = fact_words(locale)
    if (found := _OPENING.match(sentence)) and found[1].lower() in words.yes:
        return True, found[1]
    if (found := _ANSWER.match(sentence)) and found[1].lower() in words.no:
        return False, found[1]
    return None


def _compare_negation(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    if not (fact_words(source_locale).negations and fact_words(target_locale).negations):
        return
    if not all(_LONG_WORD.search(text) for text in (source, target)):
        return  # "No." and "Nr."
    (ours, is_ours_soft), (theirs, is_theirs_soft) = (
        _negations(text, locale)
        for text, locale in ((source, source_locale), (target, target_locale))
    )
    if bool(ours) != bool(theirs) and not (is_ours_soft or is_theirs_soft):
        yield TextMismatch("negation", ours, theirs)


def _negations(text: str, locale: str) -> tuple[str, bool]:
    """The first word that denies, and whether any other word may deny, or turn a denial into something else."""
    words, language = fact_words(locale), language_of(locale)
    found = [word.replace("’", "'").lower() for word in _WORD.findall(text)]
    if language in ("fr", "es"):
        found = [part for word in found for part in re.split(r"['-]", word)]
    has_particle = any(word in words.denial_particles for word in found)
    denying = next(
        (
            word
            for at, word in enumerate(found)
            if word in words.negations
            and (has_particle or not at or word not in words.particle_negations)
        ),
        "",
    )
    stems = tuple(word.removesuffix("*") for word in words.softeners if word.endswith("*"))
    is_soft = any(
        word in words.softeners
        or (not denying and word in words.denial_particles)
        or (bool(stems) and word.startswith(stems))
        or (len(word) > 5 and word.startswith(words.soft_prefixes) and word not in words.negations)
        or (len(word) > 6 and bool(words.soft_suffixes) and word.endswith(words.soft_suffixes))
        for word in found
    )
    return denying, is_soft


# Names


def _compare_names(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    there = _folded(target).replace("-", "")
    missing = [
        name
        for name in dict.fromkeys(_NAME.findall(source))
        if not _NO_NAME.fullmatch(name) and _folded(name).replace("-", "") not in there
    ]
    here = _folded(source).replace("-", "")
    added = [
        name
        for name in dict.fromkeys(_NAME.findall(target))
        if not _NO_NAME.fullmatch(name) and _folded(name).replace("-", "") not in here
    ]
    yield from _paired("name", missing, added if missing else [])
    # Anna Keller that became Anna Kellner: one word of a name is there, the next is another.
    ours, theirs = (
        [(m[0], m.start(), m.end()) for m in _CAPITALISED.finditer(text)]
        for text in (source, target)
    )
    languages = [language_of(locale) for locale in (source_locale, target_locale)]
    sides = zip(languages, (source, target), strict=True)
    if any(language != "de" and not _is_sentence(text) for language, text in sides):
        return  # in a heading any word may have a capital
    is_german = "de" in languages
    words = set(_WORD.findall(there))
    seen = set(_WORD.findall(here))
    for (first, _, end), (second, start, _) in pairwise(ours):
        if start - end != 1 or source[end] != " " or _folded(second) in words or len(second) < 3:
            continue
        if any(word.startswith(_folded(second)) for word in words):
            continue  # Kellers
        for (one, _, stop), (two, begin, _) in pairwise(theirs):
            if _folded(one) != _folded(first) or begin - stop != 1 or target[stop] != " ":
                continue
            if _folded(two) in seen or any(word.startswith(_folded(two)) for word in seen):
                continue
            if is_german and _alike(second, two) < 0.6:
                continue  # any noun has a capital
            yield TextMismatch("name", f"{first} {second}", f"{one} {two}")


def _is_sentence(text: str) -> bool:
    """Return whether a text has words of small letters, so that a capital says something."""
    return len([word for word in _PLAIN_WORD.findall(text) if word.islower()]) > 1


def _alike(one: str, other: str) -> float:
    if one[0].lower() != other[0].lower():
        return 0.0
    return SequenceMatcher(None, _folded(one), _folded(other), autojunk=False).ratio()


def _folded(text: str) -> str:
    """The text in small letters, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


# Length


def _compare_length(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    ours, theirs = (language_of(locale) for locale in (source_locale, target_locale))
    if ours == theirs or len(source) < _LENGTH_FROM or not {ours, theirs} <= set(known_languages()):
        return
    usual = fact_words(theirs).length / fact_words(ours).length
    ratio = len(target) / len(source) / usual
    if not 0.5 <= ratio <= 1.9:
        yield TextMismatch("length", str(len(source)), str(len(target)))


# Links


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@dataclass(frozen=True, slots=True)
class _Link:
    """An address in the parts that a translation may change: `language` is said by its host or path."""

    scheme: str
    host: str
    path: str
    language: str


def compare_links(source: Sequence[str], target: Sequence[str]) -> Iterator[TextMismatch]:
    """Yield the links of each side that the other does not have, or has with another address."""
    left, right = list(source), list(target)
    for agree in (str.__eq__, links_agree):
        for one in list(left):
            other = next((href for href in right if agree(one, href)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
    yield from _paired("link", left, right)


def links_agree(source: str, target: str) -> bool:
    """Return whether a link leads to the same, or to the same in the other language."""
    one, other = _read_link(source), _read_link(target)
    if one.scheme != other.scheme:
        return False
    if one.scheme == "own":
        # A page of this site has an address of its own in each language.
        return True
    if one.host != other.host:
        return False
    return one.path == other.path or (one.language != other.language and bool(other.language))


@lru_cache(maxsize=1024)
def _read_link(href: str) -> _Link:
    if "@" in href and ":" not in href:
        href = f"mailto:{href}"
    elif href.startswith("www."):
        href = f"https://{href}"
    try:
        parts = urlsplit(href)
    except ValueError:
        return _Link("other", "", href, "")
    if not parts.scheme and not parts.netloc:
        return _Link("own", "", href, "")
    if parts.scheme not in ("http", "https", ""):
        return _Link(parts.scheme, "", href.lower(), "")
    host = (parts.hostname or "").lower()
    own = _suffixes().privatesuffix(host) or host
    labels = host.removesuffix(own).strip(".").split(".")
    marks = [label for label in labels if _LANGUAGE_MARK.fullmatch(label) and len(label) < 6]
    rest = [label for label in labels if label and label not in marks and label != "www"]
    segments = [part for part in parts.path.split("/") if part]
    marks += [part for part in segments if _LANGUAGE_MARK.fullmatch(part)]
    plain = [part for part in segments if not _LANGUAGE_MARK.fullmatch(part)]
    path = "/".join(plain) + (f"?{parts.query}" if parts.query else "")
    return _Link("web", ".".join([*rest, own]), path, " ".join(marks).lower())
