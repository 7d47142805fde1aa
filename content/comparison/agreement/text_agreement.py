"""The comparison of a text with its translation. It prefers missing a mismatch to reporting a false one."""

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
"""Maximum number of characters of a text that is compared word by word. Paragraphs are shorter."""
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
"""Minimum number of characters of a source for comparing lengths."""
_MIN_DETECTED: Final = 6
"""Minimum number of words of a text for language detection."""
_LANGUAGE_MARK: Final = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextMismatch:
    """A mismatch between two texts, with the content of each side. Empty if a side lacks it."""

    kind: str
    source: str
    target: str


def compare_texts(
    source: str, target: str, source_locale: str, target_locale: str
) -> list[TextMismatch]:
    """Return the mismatches between a text and its translation: one paragraph, heading, item or cell each."""
    if source == target:
        # A copied text has no mismatches. Whether it should be translated is checked elsewhere.
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
    # A text in the wrong language would produce many more mismatches.
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
    """Return the addresses written in a text."""
    return [found.rstrip(".,;:!?") for found in _ADDRESS.findall(text[:MAX_TEXT])]


# Language


def detect_language(text: str, candidates: Collection[str]) -> str:
    """Return the language of a text among the candidates by its function words, or an empty string if unclear."""
    plain = _PLACEHOLDER.sub(" ", _ADDRESS.sub(" ", text[:MAX_TEXT]))
    words = [word.lower() for word in _PLAIN_WORD.findall(plain)]
    if len(words) < _MIN_DETECTED:
        return ""
    scores = dict.fromkeys(candidates, 0.0)
    for word in words:
        # A word that several languages share counts less.
        having = [language for language in candidates if word in _common_words(language)]
        for language in having:
            scores[language] += 1 / len(having)
    ranked = sorted(scores.values(), reverse=True)
    if not ranked or ranked[0] < max(2, len(words) / 8):
        return ""
    # Too close to decide.
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
    return _pair_mismatches(kind, list(gone.elements()), list(come.elements()))


def _pair_mismatches(kind: str, gone: Sequence[str], come: Sequence[str]) -> list[TextMismatch]:
    length = max(len(gone), len(come))
    left, right = ([*side, *[""] * (length - len(side))] for side in (gone, come))
    return [TextMismatch(kind, one, other) for one, other in zip(left, right, strict=True)]


def _compare_figures(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    left, right = unmatched_figures(
        find_figures(source, source_locale), find_figures(target, target_locale)
    )
    # Pair figures of equal number and different unit first, then of the same kind, then the rest.
    pairs: list[tuple[Figure | None, Figure | None]] = []
    for is_pair in (_have_different_units, _have_same_kind, _are_comparable):
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
    if one is not None and other is not None and _have_different_units(one, other):
        kind = "unit"
    elif "price" in kinds:
        kind = "price"
    elif kind == "unit":
        kind = "number"
    return TextMismatch(kind, one.shown if one else "", other.shown if other else "")


def unmatched_figures(
    source: Sequence[Figure], target: Sequence[Figure]
) -> tuple[list[Figure], list[Figure]]:
    """Return the figures of each side that have no counterpart on the other."""
    left, right = list(source), list(target)
    # Certain figures first, so that a soft figure does not take their counterpart.
    for is_soft_too in (False, True):
        for one in list(left):
            if one.is_soft and not is_soft_too:
                continue
            agreeing = [other for other in right if one.agrees(other)]
            if agreeing:
                # Prefer equal certainty, then the same unit.
                best = min(
                    agreeing,
                    key=lambda other: (
                        other.is_soft != one.is_soft, other.unit != one.unit, other.is_ordinal != one.is_ordinal,
                    ),
                )  # fmt: skip
                left.remove(one)
                right.remove(best)
    # The other language may distribute a date or time over its sentence.
    ours, theirs = (Counter(atom for one in side for atom in one.atoms()) for side in (left, right))
    both = ours & theirs
    return _without_atoms(left, Counter(both)), _without_atoms(right, Counter(both))


def _without_atoms(figures: Sequence[Figure], atoms: Counter[tuple[str, float]]) -> list[Figure]:
    found: list[Figure] = []
    for figure in figures:
        needed = Counter(figure.atoms())
        if needed and needed <= atoms and not (figure.unit and figure.kind != "date"):
            atoms -= needed
        else:
            found.append(figure)
    return found


def _have_different_units(one: Figure, other: Figure) -> bool:
    return bool(one.unit and other.unit and one.unit != other.unit and one.values & other.values)


def _have_same_kind(one: Figure, other: Figure) -> bool:
    if one.is_ordinal or other.is_ordinal:
        return one.is_ordinal and other.is_ordinal
    return one.kind == other.kind and not (one.is_soft or other.is_soft)


def _are_comparable(one: Figure, other: Figure) -> bool:
    return not (one.is_soft and other.is_soft) and not (one.is_ordinal or other.is_ordinal)


def _is_missed(figure: Figure) -> bool:
    """Return whether an unmatched figure is more than a phrase (both, a pair)."""
    if figure.is_soft:
        return False
    return not (figure.is_word and not figure.unit and figure.values and min(figure.values) <= 2)


def _compare_named_days(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    """Yield differing weekdays and months without a day, if both texts name some."""
    for name in ("weekdays", "months"):
        left, right = (
            _find_named_days(text, locale, name)
            for text, locale in ((source, source_locale), (target, target_locale))
        )
        gone, come = (
            {at for at, _ in one} - {at for at, _ in other}
            for one, other in ((left, right), (right, left))
        )
        if gone and come:
            yield from _pair_mismatches(
                "date",
                [word for at, word in left if at in gone],
                [word for at, word in right if at in come],
            )


def _find_named_days(text: str, locale: str, name: str) -> list[tuple[int, str]]:
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
        # "May" is also a verb: only a capital inside a sentence makes it a month.
        if word in by_word and (
            word not in words.uncertain_months
            or (match[0][0].isupper() and match.start() and text[match.start() - 2] not in ".!?")
        ):
            found.append((by_word[word], match[0]))
    return found


def _compare_bounds(
    source: str, target: str, source_locale: str, target_locale: str
) -> Iterator[TextMismatch]:
    """Yield reversed bounds, in words ("at most" and "at least") or as comparison signs."""
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
    """Return the bounds in a text that precede a number."""
    lower = text.lower()
    numbers = [figure.start for figure in find_figures(text, locale)]
    found: dict[str, str] = {}
    for kind, phrases in fact_words(locale).bounds.items():
        for phrase in phrases:
            for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", lower):
                if any(0 <= start - match.end() <= 3 for start in numbers):
                    found[kind] = phrase
    # "nicht mehr als" contains "mehr als".
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
        # Sentences cannot be paired: compare the first ones, which hold the answer.
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
        return  # abbreviations: "No.", "Nr."
    (ours, is_ours_soft), (theirs, is_theirs_soft) = (
        _negations(text, locale)
        for text, locale in ((source, source_locale), (target, target_locale))
    )
    if bool(ours) != bool(theirs) and not (is_ours_soft or is_theirs_soft):
        yield TextMismatch("negation", ours, theirs)


def _negations(text: str, locale: str) -> tuple[str, bool]:
    """Return the first negation, and whether another word may negate or weaken a negation."""
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
    folded_target = _fold(target).replace("-", "")
    missing = [
        name
        for name in dict.fromkeys(_NAME.findall(source))
        if not _NO_NAME.fullmatch(name) and _fold(name).replace("-", "") not in folded_target
    ]
    folded_source = _fold(source).replace("-", "")
    added = [
        name
        for name in dict.fromkeys(_NAME.findall(target))
        if not _NO_NAME.fullmatch(name) and _fold(name).replace("-", "") not in folded_source
    ]
    yield from _pair_mismatches("name", missing, added if missing else [])
    # A changed name, such as Anna Keller and Anna Kellner: one part is equal, the next differs.
    ours, theirs = (
        [(m[0], m.start(), m.end()) for m in _CAPITALISED.finditer(text)]
        for text in (source, target)
    )
    languages = [language_of(locale) for locale in (source_locale, target_locale)]
    sides = zip(languages, (source, target), strict=True)
    if any(language != "de" and not _is_sentence(text) for language, text in sides):
        return  # in a heading any word may have a capital
    is_german = "de" in languages
    words = set(_WORD.findall(folded_target))
    seen = set(_WORD.findall(folded_source))
    for (first, _, end), (second, start, _) in pairwise(ours):
        if start - end != 1 or source[end] != " " or _fold(second) in words or len(second) < 3:
            continue
        if any(word.startswith(_fold(second)) for word in words):
            continue  # an inflected form: Kellers
        for (one, _, stop), (two, begin, _) in pairwise(theirs):
            if _fold(one) != _fold(first) or begin - stop != 1 or target[stop] != " ":
                continue
            if _fold(two) in seen or any(word.startswith(_fold(two)) for word in seen):
                continue
            if is_german and _similarity(second, two) < 0.6:
                continue  # in German every noun is capitalised
            yield TextMismatch("name", f"{first} {second}", f"{one} {two}")


def _is_sentence(text: str) -> bool:
    """Return whether a text has lower-case words, so that a capital is significant."""
    return len([word for word in _PLAIN_WORD.findall(text) if word.islower()]) > 1


def _similarity(one: str, other: str) -> float:
    if one[0].lower() != other[0].lower():
        return 0.0
    return SequenceMatcher(None, _fold(one), _fold(other), autojunk=False).ratio()


def _fold(text: str) -> str:
    """Return the text in lower case without accents."""
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
    """An address split into the parts that a translation may change. `language`: language codes in host or path."""

    scheme: str
    host: str
    path: str
    language: str


def compare_links(source: Sequence[str], target: Sequence[str]) -> Iterator[TextMismatch]:
    """Yield the links of each side that the other lacks or has with another address."""
    left, right = list(source), list(target)
    # Exact matches first, so that a similar link does not take the counterpart of an equal one.
    for agree in (str.__eq__, links_agree):
        for one in list(left):
            other = next((href for href in right if agree(one, href)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
    yield from _pair_mismatches("link", left, right)


def links_agree(source: str, target: str) -> bool:
    """Return whether two links lead to the same page, or to the same page in the other language."""
    one, other = _read_link(source), _read_link(target)
    if one.scheme != other.scheme:
        return False
    if one.scheme == "own":
        # Pages of this site have different paths in each language, which cannot be compared here.
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
    # Host and path without language codes, so that the pages of two languages are equal.
    path = "/".join(plain) + (f"?{parts.query}" if parts.query else "")
    return _Link("web", ".".join([*rest, own]), path, " ".join(marks).lower())
