"""The proof that two texts have the same meaning: each difference must be on a short list, else there is no proof.

The list: a different number of spaces, typographic forms of one mark, a missing full stop at the end, a doubled
mark, a space before a mark, a capital at the start of a sentence, and the spelling of one word. A comma inside a
sentence, a hyphen or another word is not on the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from content.comparison.words.dictionary import WordList, word_list
from content.comparison.words.word_tables import WordTable, word_table
from proofroom.core.i18n.words import compile_pattern

_TOKEN: Final = compile_pattern(
    r"(?P<word>[\p{L}\p{M}\p{N}]+)|(?P<space> +)|(?P<line>[\n\r]+)|(?P<mark>\.+|,+|;+|:+|!+|\?+|-+)|(?P<other>(?s:.))"
)
_MAX_LENGTH: Final = 100_000
"""Maximum total number of characters of both texts for a proof."""
_DOUBLE_QUOTES: Final = frozenset('"“”„‟«»')
_SINGLE_QUOTES: Final = frozenset("'’‘‚‛")
_QUOTES: Final = _DOUBLE_QUOTES | _SINGLE_QUOTES
_DASHES: Final = frozenset({"–", "—", "―", "‒"})
_CLOSING: Final = frozenset("\"”“»’')]}")
_OPENING: Final = frozenset("\"“„«»‘‚'([{¿¡")
_SENTENCE_MARKS: Final = frozenset({".", "!", "?", "。", "！", "？", "।"})
_MARKS_CLOSE_UP: Final = frozenset(",.;:!?")
_MARKS_APART: Final = frozenset(";:!?")
"""Marks with a space before them in French."""
_MIN_SPELLED: Final = 5
_MAX_SPELLED: Final = 40
"""Maximum number of letters of a word for a spelling lookup, whose time is quadratic."""
_MOST_SPELLED: Final = 50
"""Maximum number of corrected words in one text. A text with more needs a reviewer."""
_YEAR_DIGITS: Final = 4
_MOST_QUOTED: Final = 200
"""Maximum number of tokens between an opening quote and a closing quote after a number."""
_LAST_MONTH: Final = 12
_PREFIXES: Final = frozenset({"un", "non", "nicht"})
"""Prefixes that form the opposite of a listed word, and that are seldom accidental, as in "information"."""
_MIN_OPPOSITE: Final = 5
_MIN_SUFFIX: Final = 3
_CODE: Final = compile_pattern(r"[={}<>|\\]|`[^`\n]*`|::|&&|\w\(|\w_\w|--\w")
"""Signs of code in a line. Its quotes, dashes, marks and words belong to the code."""
_ADDRESS: Final = compile_pattern(
    r"[/@]|#[^\W\d]|\$[\p{L}_]|[\p{L}\p{N}]{2}\.[\p{L}\p{N}]*\p{L}[\p{L}\p{N}]"
)
"""Signs of an address, a path or an identifier between two spaces."""
_AMBIGUOUS_CAPITALS: Final = {
    "de": frozenset({"sie", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ihres", "ihnen"})
}
"""Words with another meaning when capitalised: "sie" is they, "Sie" is you."""
_NO_ORDINAL_POINTS: Final = frozenset({"en", "es", "fr", "it", "nl", "pt"})
"""Languages in which "5." does not mean "fifth"."""
_DOTLESS_I: Final = frozenset({"tr", "az"})

TokenKind = Literal["word", "space", "line", "mark", "other"]
Use = Callable[[str], bool]
"""A function that returns whether a word occurs elsewhere, so that it is probably not a typing error."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a run of spaces, line ends or one mark, or any other character."""

    kind: TokenKind
    text: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word corrected to the only listed word at edit distance one."""

    before: str
    after: str


def is_harmless(before: str, after: str, language: str, is_used: Use | None = None) -> bool:
    """Return whether all differences between two texts are proven harmless.

    `is_used`: returns whether a corrected word occurs elsewhere on the site.
    """
    spellings = prove(before, after, language)
    if spellings is None:
        return False
    return not (is_used and any(is_used(one.before) for one in spellings))


def prove(before: str, after: str, language: str) -> tuple[Spelling, ...] | None:
    """Return the corrected words if all differences are harmless, else None."""
    if len(before) + len(after) > _MAX_LENGTH or not before.strip() or not after.strip():
        return () if before == after else None
    return _Proof(_tokens(before), _tokens(after), language).run()


def _tokens(text: str) -> list[Token]:
    return [Token(cast(TokenKind, match.lastgroup), match[0]) for match in _TOKEN.finditer(text)]


class _Proof:
    """The proof for two token lists. Each step consumes equal tokens or one harmless difference."""

    def __init__(self, old: Sequence[Token], new: Sequence[Token], language: str) -> None:
        self.old, self.new, self.language = old, new, language
        self.code = language[:2].lower()
        self.table: WordTable = word_table(language)
        self.is_literal = _literals(old)
        self.spellings: list[Spelling] = []

    def run(self) -> tuple[Spelling, ...] | None:
        at, to = 0, 0
        while at < len(self.old) or to < len(self.new):
            step = self.step(at, to)
            if step is None:
                return None
            at, to = at + step[0], to + step[1]
        return tuple(self.spellings)

    def step(self, at: int, to: int) -> tuple[int, int] | None:
        """Return the numbers of old and new tokens to consume, or None if the difference is not on the list."""
        one, other = _get(self.old, at), _get(self.new, to)
        if one == other:
            return 1, 1
        if one and other and one.kind == other.kind == "space":
            # At the start of a line, spaces are an indent with a meaning.
            is_indent = _is_line_start(self.old, at) or _is_line_start(self.new, to)
            return None if is_indent else (1, 1)
        # In code and addresses even a quote or dash must not change.
        if self.is_copied(at):
            return None
        if one and other and one.kind == other.kind == "word":
            is_proven = self.is_sentence_capital(at, to) or self.is_spelling(at, to)
            return (1, 1) if is_proven else None
        if self.is_same_mark(at, to):
            return 1, 1
        if self.is_ellipsis(at, to):
            return 1, 1
        if self.is_doubled_mark(at, to):
            return 1, 1
        if self.closes_up(self.old, at) and other == _get(self.old, at + 1) and other is not None:
            return 1, 0
        if self.code == "fr" and self.closes_up(self.new, to, _MARKS_APART):
            return (0, 1) if one == _get(self.new, to + 1) else None
        if self.is_end_mark(at, to):
            return 0, 1
        return None

    def is_copied(self, at: int) -> bool:
        """Return whether the position is in or right after code or an address."""
        return any(self.is_literal[max(0, at - 1) : at + 1])

    def is_same_mark(self, at: int, to: int) -> bool:
        """Return whether two marks are typographic forms of one quote, apostrophe or dash."""
        one, other = _text(self.old, at), _text(self.new, to)
        if {one, other} <= _QUOTES and _is_measure(self.old, at):
            return False
        if {one, other} <= _DOUBLE_QUOTES:
            return True
        if {one, other} <= _SINGLE_QUOTES:
            return True
        if {one, other} <= _SINGLE_QUOTES | {"`", "´"}:
            return _is_between(self.old, at, str.isalpha) and _is_between(self.new, to, str.isalpha)
        if {one, other} <= _DASHES:
            return not _may_be_minus(self.old, at)
        if {one, other} <= _DASHES | {"-", "--"}:
            is_spaced = _is_spaced_dash(self.old, at) and _is_spaced_dash(self.new, to)
            return is_spaced or (
                "--" not in (one, other) and _is_range(self.old, at) and _is_range(self.new, to)
            )
        return False

    def is_ellipsis(self, at: int, to: int) -> bool:
        """Return whether "..." and "…" replace each other.

        Not where they join a word to the text before it: main...dev, 1...5, [...rest].
        """
        if {_text(self.old, at), _text(self.new, to)} != {"...", "…"}:
            return False
        before = _get(self.old, at - 1)
        begins = before is None or before.kind in ("space", "line") or before.text in _QUOTES
        return begins or _kind(self.old, at + 1) != "word"

    def is_doubled_mark(self, at: int, to: int) -> bool:
        """Return whether a doubled mark at the end of a word becomes a single one.

        Elsewhere two dots may be a range or a path.
        """
        one, other = _get(self.old, at), _text(self.new, to)
        if one is None or one.kind != "mark" or other not in _MARKS_CLOSE_UP:
            return False
        follows_word = _kind(self.old, at - 1) == "word" or _text(self.old, at - 1) in _CLOSING
        if other == "!" and _is_factorial(self.old, at - 1):
            return False
        return one.text == other * 2 and follows_word and _ends_word(self.old, at)

    def closes_up(
        self, tokens: Sequence[Token], at: int, marks: frozenset[str] = _MARKS_CLOSE_UP
    ) -> bool:
        """Return whether this space separates a word from the mark that ends it or the sentence."""
        mark, follows = _text(tokens, at + 1), _get(tokens, at + 2)
        if _kind(tokens, at) != "space" or mark not in marks:
            return False
        if not (_kind(tokens, at - 1) == "word" or _text(tokens, at - 1) in _CLOSING):
            return False
        is_enclosed = (
            _text(tokens, at + 2) in _CLOSING and mark not in ":;"
        )  # not the emoticons :) and ;)
        if not (_kind(tokens, at + 2) in ("space", "line") or is_enclosed):
            return False
        if mark == "!" and _is_factorial(tokens, at - 1):
            return False
        beyond = _text(tokens, at + 3)
        if mark == ":" and _ends_in_digit(tokens, at - 1) and beyond[:1].isdigit():
            return False  # a score, a proportion, a time
        is_apart = follows is not None and follows.kind == "space"
        return mark not in _SENTENCE_MARKS or not (is_apart and beyond[:1].islower())

    def is_end_mark(self, at: int, to: int) -> bool:
        """Return whether a missing full stop is added at the end of the text, before closing quotes or brackets."""
        if _text(self.new, to) not in (".", "。", "।"):
            return False
        rest = [token.text for token in self.old[at:]]
        if not set(rest) <= _CLOSING or [token.text for token in self.new[to + 1 :]] != rest:
            return False
        before = _get(self.old, at - 1)
        if before is None or not (before.kind == "word" or before.text in _CLOSING):
            return False
        if _is_copied_word(before.text):
            return False
        # In some languages a full stop makes a number an ordinal. After an address it becomes part of the address.
        is_number = any(map(str.isdigit, before.text)) and len(before.text) != _YEAR_DIGITS
        is_ordinal = is_number and self.code not in _NO_ORDINAL_POINTS
        return not is_ordinal and len(self.old) > 1 and not self.ends_in_address(at)

    def ends_in_address(self, at: int) -> bool:
        last = "".join(token.text for token in self.old[:at]).split()[-1:]
        return any(sign in word for word in last for sign in ("/", "@", "_", "\\", "=", "#", "."))

    def is_sentence_capital(self, at: int, to: int) -> bool:
        """Return whether the first letter of a sentence becomes a capital. The rest must be lower case in both."""
        one, other = self.old[at].text, self.new[to].text
        if not one.isalpha() or not one.islower() or one[0].upper() + one[1:] != other:
            return False
        # Some letters grow in upper case ("ß"), and in Turkish and Azerbaijani the capital of "i" is another letter.
        if len(one) != len(other) or (self.code in _DOTLESS_I and one[0] in "iı"):
            return False
        # In Dutch both letters become capitals: "IJs".
        if self.code == "nl" and one.startswith("ij"):
            return False
        # The first word of a sentence may be a command or a variable: npm, x.
        words = word_list(self.language)
        is_known = words is None or one in self.table.function_words | self.table.question_words
        if not is_known and (len(one) == 1 or words is None or one not in words):
            return False
        if one in _AMBIGUOUS_CAPITALS.get(self.code, ()) or not _ends_word(self.old, at):
            return False
        return self.begins_sentence(at)

    def begins_sentence(self, at: int) -> bool:
        at -= 1
        while _text(self.old, at) in _OPENING:
            at -= 1
        if at < 0:
            return True
        # A single line end may be inside a sentence.
        if _kind(self.old, at) == "line" and self.old[at].text.count("\n") > 1:
            return True
        if _kind(self.old, at) not in ("space", "line"):
            return False
        at -= 1
        is_quoted = _text(self.old, at) in _CLOSING
        while _text(self.old, at) in _CLOSING:
            at -= 1
        mark = _text(self.old, at)
        # A mark before a closing quote need not end the sentence: He asked “why?” and left.
        if is_quoted and mark in _MARKS_APART:
            return False
        # An ellipsis need not end the sentence either: so … then.
        if mark not in _SENTENCE_MARKS:
            return False
        is_apart = mark in _MARKS_APART and _kind(self.old, at - 1) == "space"
        return self.is_plain_word(at - 2 if is_apart else at - 1, mark)

    def is_plain_word(self, at: int, mark: str) -> bool:
        """Return whether the word lets the mark end a sentence, and is not an abbreviation."""
        while _text(self.old, at) in _CLOSING:
            at -= 1
        token = _get(self.old, at)
        # A single letter may be an initial.
        if token is None or token.kind != "word" or len(token.text) < 2 or not token.text.isalpha():
            return False
        if f"{token.text.lower()}." in self.table.abbreviations or _text(self.old, at - 1) == ".":
            return False
        words = word_list(self.language)
        if words is not None and token.text not in words:
            return False  # perhaps a brand name that ends in a mark
        if mark != ".":
            return True
        if words is None:
            return False
        # Without a list of abbreviations for the language, a short word may be one.
        return bool(self.table.abbreviations) or len(token.text) >= _MIN_SPELLED

    def is_spelling(self, at: int, to: int) -> bool:
        """Return whether one edit turns an unlisted lower-case word into the only possible listed word."""
        one, other = self.old[at].text, self.new[to].text
        lengths = len(one), len(other)
        if min(lengths) < _MIN_SPELLED or max(lengths) > _MAX_SPELLED:
            return False
        if not (one + other).isalpha() or len(self.spellings) >= _MOST_SPELLED:
            return False
        # Without a complete table, the word could be an unknown negation or number.
        if not self.table.is_complete:
            return False
        if not (one + other).islower() and not (
            self.code == "de" and _is_capitalised(one) and _is_capitalised(other)
        ):
            return False
        if not (_is_separate_word(self.old, at) and _is_separate_word(self.new, to)):
            return False
        # With several possible corrections, the intended word is unknown.
        words = word_list(self.language)
        if words is None or one in words or words.corrections(one) != {other.lower()}:
            return False
        # A compound of listed words, or a listed word with an ending, is no misspelling.
        if self.table.is_made_of_listed(one, words.__contains__) and not _is_doubling(one, other):
            return False
        short, long = sorted((one.lower(), other.lower()), key=len)
        if long.startswith(short) and long.removeprefix(short) in self.table.endings:
            return False
        if any(map(self.table.carries_meaning, (*self.bare_forms(one), *self.bare_forms(other)))):
            return False
        if self.is_of_opposites(other.lower(), words):
            return False
        self.spellings.append(Spelling(one, other))
        return True

    def is_of_opposites(self, word: str, words: WordList) -> bool:
        """Return whether it is a listed word with a negating prefix or the opposite suffix: undamaged, harmless."""
        for prefix in _PREFIXES.intersection(self.table.prefixes):
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) >= _MIN_OPPOSITE and rest in words:
                return True
        for suffix, other in self.table.suffix_pairs():
            stem = word.removesuffix(suffix)
            if len(suffix) >= _MIN_SUFFIX and stem != word and stem and stem + other in words:
                return True
        return False

    def bare_forms(self, word: str) -> list[str]:
        """Return the word, and its forms without a negation: unsafe, mustnt."""
        lower = word.lower()
        found = [lower]
        found += [
            lower.removeprefix(prefix)
            for prefix in self.table.prefixes
            if lower.startswith(prefix) and len(lower) > len(prefix) + 1
        ]
        if lower.endswith("nt"):
            found.append(lower.removesuffix("nt"))
        return found


def _get(tokens: Sequence[Token], at: int) -> Token | None:
    return tokens[at] if 0 <= at < len(tokens) else None


def _text(tokens: Sequence[Token], at: int) -> str:
    """Return the token's text, or a line end for a position outside of the list."""
    token = _get(tokens, at)
    return token.text if token else "\n"


def _kind(tokens: Sequence[Token], at: int) -> str:
    token = _get(tokens, at)
    return token.kind if token else "line"


def _is_line_start(tokens: Sequence[Token], at: int) -> bool:
    return _kind(tokens, at - 1) == "line"


def _ends_word(tokens: Sequence[Token], at: int) -> bool:
    """Return whether white space, a closing mark or the end of the text follows."""
    follows = _get(tokens, at + 1)
    if follows is None or follows.kind in ("space", "line") or follows.text in _CLOSING:
        return True
    return follows.text in _MARKS_CLOSE_UP | {"…", "..."} and (
        _kind(tokens, at + 2) in ("space", "line") or _text(tokens, at + 2) in _CLOSING
    )


def _is_separate_word(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word is not part of an address, a hyphenated name or the like."""
    before = _get(tokens, at - 1)
    begins = before is None or before.kind in ("space", "line") or before.text in _OPENING
    # An apostrophe after a word belongs to that word.
    if before is not None and before.text in _SINGLE_QUOTES and _kind(tokens, at - 2) == "word":
        return False
    follows = _get(tokens, at + 1)
    if follows is not None and follows.text in _SINGLE_QUOTES and _kind(tokens, at + 2) == "word":
        return False
    return begins and _ends_word(tokens, at)


def _literals(tokens: Sequence[Token]) -> list[bool]:
    """Return for each token whether it is in a line of code, an address, a path or an identifier."""
    found: list[bool] = []
    line: list[Token] = []

    def end_line() -> None:
        is_code = _CODE.search("".join(token.text for token in line)) is not None
        stretch: list[Token] = []
        for token in (*line, None):
            if token is not None and token.kind != "space":
                stretch.append(token)
                continue
            text = "".join(one.text for one in stretch)
            is_literal = is_code or _ADDRESS.search(text) is not None
            found.extend([is_literal] * len(stretch))
            stretch.clear()
            if token is not None:
                found.append(is_code)
        line.clear()

    for token in tokens:
        if token.kind == "line":
            end_line()
            found.append(False)
        else:
            line.append(token)
    end_line()
    return found


def _is_copied_word(word: str) -> bool:
    """Return whether a word looks like a key to press or a password: y, hunter2."""
    is_mixed = any(map(str.isdigit, word)) and not word.isdigit()
    return is_mixed or (len(word) == 1 and word.islower())


def _ends_in_digit(tokens: Sequence[Token], at: int) -> bool:
    token = _get(tokens, at)
    return token is not None and token.text[-1].isnumeric()


def _is_factorial(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a following "!" may be a factorial: after a variable, or a number other than a year."""
    token = _get(tokens, at)
    if token is None or token.kind != "word":
        return False
    is_year = token.text.isdecimal() and len(token.text) == _YEAR_DIGITS
    return len(token.text) == 1 or (_ends_in_digit(tokens, at) and not is_year)


def _is_measure(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a quote after a number or variable may mean feet, inches, minutes or a prime."""
    if _kind(tokens, at - 1) == "space" == _kind(tokens, at + 1):
        return True
    is_second = _text(tokens, at - 1) in _SINGLE_QUOTES
    behind = at - 2 if is_second else at - 1
    is_variable = _kind(tokens, behind) == "word" and len(_text(tokens, behind)) == 1
    is_variable = is_variable and _kind(tokens, at + 1) != "word"
    if not is_variable and not _ends_in_digit(tokens, behind):
        return False
    if tokens[at].text in _SINGLE_QUOTES:
        return _text(tokens, at + 1) != "s"  # an apostrophe: the 1990's
    # After an open quote, this is its closing quote and no inch sign.
    opened = 0
    for back in range(at - 1, max(-1, at - _MOST_QUOTED), -1):
        if tokens[back].kind == "line":
            break
        if tokens[back].text in _DOUBLE_QUOTES:
            before = _get(tokens, back - 1)
            begins = before is None or before.kind in ("space", "line") or before.text in "([{-–—"
            opened += 1 if begins else -1
    return opened <= 0


def _is_between(tokens: Sequence[Token], at: int, is_side: Callable[[str], bool]) -> bool:
    return all(is_side(_text(tokens, side)) for side in (at - 1, at + 1))


def _is_spaced_dash(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a dash separates words or the numbers of a range, and is neither a minus nor a list marker."""
    if _kind(tokens, at - 1) != "space" or _kind(tokens, at + 1) != "space":
        return False
    before, after = _get(tokens, at - 2), _get(tokens, at + 2)
    if before is None or after is None or "line" in (before.kind, after.kind):
        return False
    is_of_times = _text(tokens, at - 3) == ":" == _text(tokens, at + 3)
    if not after.text[0].isnumeric() or (is_of_times and before.text.isdecimal()):
        return True
    return _may_be_range(before.text, after.text)


def _may_be_minus(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a number that does not end a range follows a dash."""
    follows = _text(tokens, at + 2 if _kind(tokens, at + 1) == "space" else at + 1)
    is_range = _is_spaced_dash(tokens, at) or _is_range(tokens, at)
    return follows[0].isnumeric() and not is_range


def _may_be_range(low: str, high: str) -> bool:
    """Return whether two numbers form a range (10 to 12, 1998 to 2004 or 99) and not a difference or a month."""
    if not (low.isdecimal() and high.isdecimal()) or low[0] == "0":
        return False
    if len(low) == _YEAR_DIGITS and len(high) == 2:
        return int(high) > max(_LAST_MONTH, int(low[2:]))
    is_short = max(len(low), len(high)) < _YEAR_DIGITS
    is_years = len(low) == len(high) == _YEAR_DIGITS
    return high[0] != "0" and (is_short or is_years) and int(low) < int(high)


def _is_range(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the dash separates two short numbers, as in 10–12, and is the only one."""
    beyond = [_get(tokens, side) for side in (at - 2, at + 2)]
    return _may_be_range(_text(tokens, at - 1), _text(tokens, at + 1)) and all(
        token is None or token.kind in ("space", "line") or token.text in "()[],;"
        for token in beyond
    )


def _is_doubling(one: str, other: str) -> bool:
    """Return whether one word has a double letter where the other has it once: occured, occurred."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return len(long) == len(short) + 1 and any(
        long[at] == long[at - 1] and long[:at] + long[at + 1 :] == short
        for at in range(1, len(long))
    )


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower()
