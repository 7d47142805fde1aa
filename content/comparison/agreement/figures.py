"""Numbers, prices, measures, dates and times of a text, in a form that is comparable across languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Final, Literal

from content.comparison.words.fact_words import fact_words, language_of

FigureKind = Literal["number", "price", "unit", "date"]
MASK: Final = "\ue000"
"""Replacement for each character of a text already read. Offsets stay the same and nothing is read twice."""
_MAX_FIGURES: Final = 200
_SPACE: Final = r"[ \u00a0\u202f\u2009]"
_DIGITS: Final = (
    r"(?<![\w.,])[+−-]?(?:\d{1,3}(?:[\u00a0\u202f\u2009’']\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,3}(?: \d{3})+(?:,\d+)?(?!\d)|\d+(?:[.,]\d+)*)"
)
_NUMBER: Final = re.compile(_DIGITS)
_FRACTIONS: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th|er|re|e|ème|ᵉ|º|ª)(?!\w)")
_SIGNS: Final = {"€": "euro", "$": "dollar", "£": "pound", "¥": "yen", "₹": "rupee"}
_CODES: Final = {
    "EUR": "euro", "USD": "dollar", "GBP": "pound", "CHF": "franc", "JPY": "yen", "US$": "dollar", "INR": "rupee",
}  # fmt: skip
_SYMBOLS: Final = {
    "%": "percent", "‰": "permille", "km": "kilometre", "m": "metre", "cm": "centimetre", "mm": "millimetre",
    "kg": "kilogram", "g": "gram", "mg": "milligram", "t": "tonne", "l": "litre", "L": "litre", "ml": "millilitre",
    "°C": "celsius", "°F": "fahrenheit", "°": "degree", "h": "hour", "min": "minute", "s": "second",
    "ms": "millisecond", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "Ko": "kilobyte", "Mo": "megabyte", "Go": "gigabyte", "To": "terabyte", "px": "pixel", "W": "watt",
    "kW": "kilowatt", "kWh": "kilowatt hour", "V": "volt", "Hz": "hertz", "mph": "mile an hour",
    "km/h": "kilometre an hour",
}  # fmt: skip
_MONEY: Final = frozenset({"euro", "dollar", "pound", "franc", "cent", "yen", "rupee"})
_CONVERSIONS: Final[Mapping[str, tuple[str, float]]] = {
    "millisecond": ("time", 0.001), "second": ("time", 1), "minute": ("time", 60), "hour": ("time", 3600),
    "day": ("time", 86_400), "week": ("time", 604_800), "month": ("months", 1), "quarter": ("months", 3),
    "year": ("months", 12), "decade": ("months", 120), "century": ("months", 1200), "kilometre": ("length", 1000),
    "metre": ("length", 1), "centimetre": ("length", 0.01), "millimetre": ("length", 0.001), "tonne": ("mass", 1000),
    "kilogram": ("mass", 1), "gram": ("mass", 0.001), "milligram": ("mass", 0.000_001), "litre": ("volume", 1),
    "millilitre": ("volume", 0.001), "kilobyte": ("data", 1), "megabyte": ("data", 1000),
    "gigabyte": ("data", 1_000_000), "terabyte": ("data", 1_000_000_000),
}  # fmt: skip
"""Conversions: the dimension of a unit and its factor to the base unit."""
_GENERIC: Final = frozenset({"degree", "celsius", "fahrenheit"})
_CLOCK: Final = re.compile(
    rf"(?<![\w.,:/])(\d{{1,2}})(?:([:.h])(\d{{2}})(?::\d{{2}})?)?(?:{_SPACE}?([ap])\.?{_SPACE}?m\b\.?|{_SPACE}?(Uhr|h|o[’']clock|horas)\b"
    rf"(?:{_SPACE}?(\d{{2}})(?!\d))?)?(?![\w/])",
    re.IGNORECASE,
)
_DAYTIME: Final = re.compile(
    r"\s+de la (mañana|tarde|noche)\b|\s+(?:du|de l[’'])\s?(matin|après-midi|soir)\b"
)
_NUMERIC_DATE: Final = re.compile(
    r"(?<![\w./-])(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})([./-])"
    + _SPACE
    + r"?(\d{1,2})\5"
    + _SPACE
    + r"?(\d{4}|\d{2})|(\d{1,2})\."
    + _SPACE
    + r"?(\d{1,2})\.)(?![\w/-]|\.\d)"
)
_RANGE_JOINT: Final = re.compile(
    r"\s?(?:-|–|—|to|until|till|and|bis|und|à|et|a|y)\s?", re.IGNORECASE
)
_DECADE: Final = re.compile(r"(?:s|er)(?!\w)(?:\s(?:Jahre[n]?)(?!\w))?")
_ALWAYS: Final = re.compile(
    r"(?<!\w)(?:24/7|24\s?h(?:eures)?\s?(?:/|sur)\s?24|7\s?j(?:ours)?\s?(?:/|sur)\s?7)(?!\w)"
)
"""Forms such as 24/7. They are not figures, because translations write them in words ("around the clock")."""
_ROMAN: Final = re.compile(r"(?<!\w)((?=[XVI]{2})X{0,3}(?:IX|IV|V?I{0,3}))(?:e|er|ème|\.)?(?!\w)")
_CODE: Final = re.compile(r"(?<![\w])(?=\w*[^\W\d_])(?=\w*\d)[^\W_]\w*(?!\w)")


Atom = tuple[str, float]
"""A month or a plain number."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as written in a text, with all its possible meanings.

    `is_soft`: it may be no figure ("one", "both"), so it is never reported as missing. `is_word`: written in words.
    """

    kind: FigureKind
    shown: str
    start: int
    values: frozenset[float] = frozenset()
    unit: str = ""
    days: frozenset[tuple[int, int, int]] = frozenset()
    """(year, month, day) of each possible date, 0 for a missing part."""
    times: frozenset[int] = frozenset()
    """Minutes since midnight."""
    is_soft: bool = False
    is_word: bool = False
    is_ordinal: bool = False

    def agrees(self, other: Figure) -> bool:
        """Return whether both figures can have the same meaning."""
        if self.days or other.days:
            return not self.days.isdisjoint(other.days)
        if self.times and other.times:
            return not self.times.isdisjoint(other.times)
        if self.times or other.times:
            time, number = (self, other) if self.times else (other, self)
            hours = {minutes / 60 for minutes in time.times}
            return number.unit in ("", "hour") and not hours.isdisjoint(number.values)
        return self.has_unit_of(other) and any(
            _is_close(one * _factor(self.unit, other.unit), two * _factor(other.unit, self.unit))
            for one in self.values
            for two in other.values
        )

    def has_unit_of(self, other: Figure) -> bool:
        """Return whether the units are convertible. A missing unit fits any."""
        ours, theirs = self.unit, other.unit
        if not ours or not theirs or ours == theirs:
            return True
        if {ours, theirs} <= _GENERIC and "degree" in (ours, theirs):
            return True
        if ours in _CONVERSIONS and theirs in _CONVERSIONS:
            return _CONVERSIONS[ours][0] == _CONVERSIONS[theirs][0]
        return {ours, theirs} == {"night", "day"}

    def atoms(self) -> list[Atom]:
        """Return the numbers of the figure, which another language may distribute over the sentence."""
        if self.days:
            year, month, day = min(self.days)
            found = [("month", float(month))] if month else []
            return found + [("number", float(part)) for part in (year, day) if part]
        if self.times:
            minutes = min(self.times)
            hour, rest = divmod(minutes, 60)
            return [("number", float(hour))] + ([("number", float(rest))] if rest else [])
        return [("number", min(self.values))] if self.values else []


def _roman(digits: str) -> int:
    """Return the value of a Roman numeral of X, V and I."""
    values = [{"X": 10, "V": 5, "I": 1}[digit] for digit in digits]
    following = [*values[1:], 0]
    return sum(-one if one < two else one for one, two in zip(values, following, strict=True))


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(1.0, abs(one), abs(other))


def _factor(unit: str, other: str) -> float:
    return (
        _CONVERSIONS[unit][1]
        if unit in _CONVERSIONS and other in _CONVERSIONS and unit != other
        else 1.0
    )


def find_figures(text: str, language: str) -> tuple[Figure, ...]:
    """Return the figures of a text in order."""
    return _figures(text, language_of(language))


@lru_cache(maxsize=512)
def _figures(text: str, language: str) -> tuple[Figure, ...]:
    # Each figure is compared with each figure of the other text, so their number is limited. Real texts have fewer.
    found = islice(_Reader(text, language).read(), _MAX_FIGURES)
    return tuple(sorted(found, key=lambda one: one.start))


class _Reader:
    """The reader of one text. It masks what it has read."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.rest = text, text
        self.words, self.grammar = fact_words(language), _grammar(language)

    def read(self) -> Iterator[Figure]:
        for match in list(_ALWAYS.finditer(self.rest)):
            self._mask(match.start(), match.end())
        # Dates and times before amounts, so that their digits are not read as numbers.
        yield from self._dates()
        yield from self._times()
        for match in _ROMAN.finditer(self.rest):
            value = float(_roman(match[1]))
            yield Figure("number", match[0], match.start(), frozenset({value}), is_soft=True)
        yield from self._amounts()

    def _mask(self, start: int, end: int) -> str:
        self.rest = self.rest[:start] + MASK * (end - start) + self.rest[end:]
        return " ".join(self.text[start:end].split())

    def _dates(self) -> Iterator[Figure]:
        for match in list(_NUMERIC_DATE.finditer(self.rest)):
            year, month, day, first, mark, second, last, day_only, month_only = match.groups()
            found: set[tuple[int, int, int]] = set()
            if year:
                found.add((int(year), int(month), int(day)))
            elif day_only:
                found.add((0, int(month_only), int(day_only)))
            else:
                whole = int(last) + (2000 if len(last) == 2 else 0)
                found.add((whole, int(second), int(first)))
                # In languages with a decimal point, 3/4/2024 is day/month or month/day.
                if mark == "/" and self.words.decimal == ".":
                    found.add((whole, int(first), int(second)))
            days = frozenset(one for one in found if 1 <= one[1] <= 12 and 1 <= one[2] <= 31)
            if days:
                shown = self._mask(match.start(), match.end())
                yield Figure("date", shown, match.start(), days=days)
        if self.grammar.date is None:
            return
        for match in list(self.grammar.date.finditer(self.rest)):
            parts = match.groupdict()
            name = parts["month"] or parts["month2"] or parts["month3"]
            month = self.grammar.months[name.lower().rstrip(".")]
            day = int(parts["day"] or parts["day2"] or 0)
            year = int(parts["year"] or parts["year2"] or parts["year3"] or 0)
            shown = self._mask(match.start(), match.end())
            yield Figure("date", shown, match.start(), days=frozenset({(year, month, day)}))

    def _times(self) -> Iterator[Figure]:
        after: set[int] | None = None
        begin = 0
        # Backwards: in a range ("9 to 17:30") the later time shows that the earlier number is a time.
        for match in reversed(list(_CLOCK.finditer(self.rest))):
            hour, mark, minutes, half, word, late_minutes = match.groups()
            daytime = _DAYTIME.match(self.rest, match.end())
            named = next(filter(None, daytime.groups()), "") if daytime else ""
            is_clock = bool(half or word or named or (mark in (":", "h") and minutes))
            is_range = after is not None and _RANGE_JOINT.fullmatch(self.rest[match.end() : begin])
            if not is_clock and not is_range:
                continue
            # 3.30 is a number, unless a word shows that it is a time.
            if mark == "." and not (half or word or named):
                continue
            whole = int(hour)
            if whole > 24 or int(minutes or late_minutes or 0) > 59:
                continue
            moment = whole * 60 + int(minutes or late_minutes or 0)
            if half:
                times = {(whole % 12 + (12 if half.lower() == "p" else 0)) * 60 + moment % 60}
            else:
                if named:
                    is_late = named in ("tarde", "noche", "après-midi", "soir")
                    times = {moment + 720 if is_late and whole < 12 else moment}
                elif (not is_clock and whole <= 12) or (word and "clock" in word.lower()):
                    times = {moment, (moment + 720) % 1440}
                else:
                    times = {moment}
            after, begin = times, match.start()
            shown = self._mask(match.start(), match.end())
            yield Figure("date", shown, match.start(), times=frozenset(times))

    def _amounts(self) -> Iterator[Figure]:
        grammar = self.grammar
        for match in list(_CODE.finditer(self.rest)):
            # The digits of names such as B12, IPv6 and mp3 are no numbers. A word that starts with a digit is a
            # number with a suffix: 5km, 3rd.
            if not match[0][0].isdigit():
                self._mask(match.start(), match.end())
        at = 0
        while found := grammar.amount.search(self.rest, at):
            at = found.end()
            start, end = found.span()
            digits, fraction = found["digits"], found["fraction"]
            is_soft = is_ordinal = False
            if digits or fraction:
                values = (
                    _possible_values(digits, self.words.decimal)
                    if digits
                    else {_FRACTIONS[fraction]}
                )
                is_decade = digits is not None and len(digits) in (2, 4) and digits.endswith("0")
                # "the 1990s", "die 90er Jahre"
                if is_decade and (mark := _DECADE.match(self.rest, end)):
                    shown = self._mask(start, mark.end())
                    yield Figure("number", shown, start, frozenset(values))
                    continue
                if digits and (mark := _ORDINAL.match(self.rest, end)):
                    end = mark.end()
                scale, end = self._scale(end)
                values = {value * scale for value in values}
            else:
                read = self._number_words(start)
                if read is None:
                    continue
                value, end, is_soft, is_ordinal = read
                values = {value}
            unit, end = self._unit(end, is_soft=is_soft)
            before = grammar.sign_before.search(self.rest, max(0, start - 5), start)
            if before is not None:
                sign = before[1]
                unit = _SIGNS.get(sign) or _CODES.get(sign, unit)
                start = before.start(1)
            kind: FigureKind = "price" if unit in _MONEY else "unit" if unit else "number"
            shown = self._mask(start, end)
            yield Figure(
                kind,
                shown,
                start,
                frozenset(values),
                unit,
                is_soft=is_soft,
                is_word=not digits,
                is_ordinal=is_ordinal,
            )
            at = end

    def _scale(self, end: int) -> tuple[float, int]:
        scale = 1.0
        while match := self.grammar.scale.match(self.rest, end):
            word = match[1].lower().rstrip(".")
            if len(word) == 1 and match[0][0].isspace():
                break  # "5 m" is a length
            scale *= self.words.scales[word]
            end = match.end()
        return scale, end

    def _number_words(self, start: int) -> tuple[float, int, bool, bool] | None:
        """Return the value of a run of number words, its end, and whether it is soft and an ordinal."""
        grammar = self.grammar
        total = current = 0.0
        end = start
        is_soft, count, is_ordinal = True, 0, False
        at = start
        while match := grammar.number_word.match(self.rest, at):
            word = match["word"].lower()
            found = grammar.number_of(word)
            if found is None:
                break
            value, soft, ordinal, scale = found
            if scale:
                if value >= 1000:
                    total += (current or 1) * value
                    current = 0
                else:
                    current = (current or 1) * value
            # A word that cannot continue the number starts another: "two twenty".
            elif count and (
                (current and value >= current)
                or (current % 100 and (current % 100 < 20 or value >= 20))
            ):
                break
            else:
                current += value
            is_soft = is_soft and soft
            is_ordinal = is_ordinal or ordinal
            count += 1
            at = end = match.end()
            joint = grammar.joint.match(self.rest, at)
            if joint is None:
                break
            at = joint.end()
        return (total + current, end, is_soft, is_ordinal) if count else None

    def _unit(self, end: int, *, is_soft: bool) -> tuple[str, int]:
        """Return the unit after an amount, and its end. One word may be between them."""
        if match := self.grammar.symbol.match(self.rest, end):
            sign = match[1]
            return _SIGNS.get(sign) or _CODES.get(sign) or _SYMBOLS[sign], match.end()
        if match := self.grammar.unit.match(self.rest, end):
            if match["between"] and is_soft:
                return "", end
            word = " ".join(match["unit"].lower().split())
            return self.grammar.unit_of(word), match.end()
        return "", end


def _possible_values(digits: str, decimal: str) -> set[float]:
    """Return all values that digits may have: in the format of the language, else in other formats."""
    plain = re.sub(r"[\u00a0\u202f\u2009’' ]", "", digits).replace("−", "-")
    sign = -1.0 if plain.startswith("-") else 1.0
    plain = plain.lstrip("+-")
    group = "," if decimal == "." else "."
    if not re.search(r"[.,]", plain):
        # A minus may also be a dash, so both signs are possible.
        return {float(plain), sign * float(plain)}
    found: set[float] = set()
    if re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+(?:{re.escape(decimal)}\d+)?", plain):
        found.add(float(plain.replace(group, "").replace(decimal, ".")))
    elif re.fullmatch(rf"\d+{re.escape(decimal)}\d+", plain):
        found.add(float(plain.replace(decimal, ".")))
    elif re.fullmatch(r"\d+[.,]\d+", plain):
        found.add(float(plain.replace(",", ".")))
    else:
        # A version such as 1.2.3. The offset prevents equality with a number.
        found.add(float(re.sub(r"\D", "", plain)[:15]) + 1e15)
    return found | {sign * value for value in found}


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The patterns of one language."""

    months: Mapping[str, int]
    date: re.Pattern[str] | None
    amount: re.Pattern[str]
    number_word: re.Pattern[str]
    joint: re.Pattern[str]
    scale: re.Pattern[str]
    unit: re.Pattern[str]
    symbol: re.Pattern[str]
    sign_before: re.Pattern[str]
    units: Mapping[str, str]
    number_of: Callable[[str], tuple[float, bool, bool, bool] | None]

    def unit_of(self, word: str) -> str:
        """Return the key of a unit. A compound (Arbeitstage) has the key of its last part."""
        word = word.replace(" ", "-")
        if word in self.units:
            return self.units[word]
        return next(
            (self.units[word[at:]] for at in range(1, len(word) - 2) if word[at:] in self.units), ""
        )


def _alternatives(words: Sequence[str]) -> str:
    """Return a pattern for any of the words, the longest first. A hyphen also matches a space."""
    longest = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\-", r"[-\s]") for word in longest) or r"(?!)"


@cache
def _grammar(language: str) -> _Grammar:
    words = fact_words(language)
    months = {name: at for at, names in enumerate(words.months, 1) for name in names}
    month = rf"(?:{_alternatives(list(months))})\b\.?"
    ordinal = r"(?:\.|st|nd|rd|th|er|º)?"

    def year(name: str) -> str:
        return rf"(?:,?\s(?:del?\s)?(?P<{name}>\d{{4}})(?!\d))?"

    date = re.compile(
        rf"(?<![\w.,])(?P<day>\d{{1,2}}){ordinal}\s{{1,2}}(?:of\s|de\s)?(?P<month>{month}){year('year')}"
        rf"|\b(?P<month2>{month})\s(?:the\s)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]*\d|\s?[%€$:])"
        rf"{year('year2')}|\b(?P<month3>{month}),?\s(?:of\s|de\s)?(?P<year3>\d{{4}})(?!\d)",
        re.IGNORECASE,
    )
    units = {form: key for key, forms in words.units.items() for form in forms}
    endings = tuple(words.ordinal_endings)

    @cache
    def number_of(word: str) -> tuple[float, bool, bool, bool] | None:
        """Return the value of a word, and whether it is soft, an ordinal and a scale."""
        word = re.sub(r"\s+", "-", word)
        if word in words.scales:
            return words.scales[word], len(word) < 3, False, True
        if word in words.numbers:
            return words.numbers[word], False, False, False
        if word in words.soft_numbers:
            return words.soft_numbers[word], True, False, False
        if word in words.ordinals and not endings:
            return words.ordinals[word], True, True, False
        if not endings:
            return None
        for ending in endings:
            if word.endswith(ending) and (stem := word.removesuffix(ending)) in words.ordinals:
                return words.ordinals[stem], True, True, False
        value = _compound(word, words.numbers | {"ein": 1})
        if value is not None:
            return value, False, False, False
        # A number with a suffix: dreitägig, vierfach.
        return next(
            (
                (number, True, False, False)
                for known, number in words.numbers.items()
                if word.startswith(known) and len(known) > 3
            ),
            None,
        )

    listed = _alternatives([*words.numbers, *words.soft_numbers, *words.scales, *words.ordinals])
    rest = r"\w*(?!\w)" if endings else r"(?!\w)"
    joints = _alternatives(words.joints)
    compound = r"[^\W\d_]*" if endings else ""
    signs = "|".join(map(re.escape, sorted({*_SIGNS, *_CODES, *_SYMBOLS}, key=len, reverse=True)))
    return _Grammar(
        months=months,
        date=date if months else None,
        amount=re.compile(
            rf"(?P<digits>{_DIGITS})|(?P<fraction>[½¼¾⅓⅔⅛])|(?<![^\W\d_])(?:{listed}){rest}",
            re.IGNORECASE,
        ),
        number_word=re.compile(rf"(?<![^\W\d_])(?P<word>(?:{listed}){rest})", re.IGNORECASE),
        joint=re.compile(rf"-|{_SPACE}(?:{joints}){_SPACE}|-(?:{joints})-|{_SPACE}", re.IGNORECASE),
        scale=re.compile(
            rf"{_SPACE}?({_alternatives(list(words.scales))})(?!\w)\.?", re.IGNORECASE
        ),
        unit=re.compile(
            r"[\s-]{1,2}(?P<between>(?:of\s|de\s|d[’']|[^\W\d_]{3,20}\s)?)"
            rf"(?P<unit>{compound}(?:{_alternatives(list(units))}))(?!\w)",
            re.IGNORECASE,
        ),
        symbol=re.compile(rf"{_SPACE}?({signs})(?![\w/])"),
        sign_before=re.compile(rf"(US\$|[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|INR)){_SPACE}?$"),
        units=units,
        number_of=number_of,
    )


def _compound(word: str, numbers: Mapping[str, float]) -> float | None:
    """Return the value of a German number in one word (zweihundertfünfundzwanzig), None for any other word."""
    if word in numbers:
        return numbers[word]
    for name, scale in (("tausend", 1000.0), ("hundert", 100.0)):
        head, found, tail = word.partition(name)
        if found:
            left = _compound(head, numbers) if head else 1.0
            right = _compound(tail.removeprefix("und"), numbers) if tail else 0.0
            return None if left is None or right is None else left * scale + right
    head, found, tail = word.partition("und")
    if found and head in numbers and numbers.get(tail, 0) >= 20 > numbers[head]:
        return numbers[head] + numbers[tail]
    return None
