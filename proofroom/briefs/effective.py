"""The brief that holds for a text, made of the briefs of its section, post type, language and site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from proofroom.briefs.models import Brief, StoredTerm
from proofroom.briefs.sections import leading_sections

MARKDOWN_MAX: Final = 40_000
"""Characters of a brief that an agent reads. The lines beyond it are left out: examples, names, then the terms of
wider briefs.
"""


@dataclass(frozen=True, slots=True)
class BriefTerm:
    """A term and how to use it.

    `preferred`: the term to use instead, empty if there is none. `forbidden`: the term must not be used.
    `translations`: the term in other languages, by language code.
    """

    term: str
    preferred: str = ""
    forbidden: bool = False
    translations: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def to_stored(self) -> StoredTerm:
        """Return the term as briefs store it, without empty values."""
        stored: StoredTerm = {"term": self.term}
        if self.preferred:
            stored["preferred"] = self.preferred
        if self.forbidden:
            stored["forbidden"] = True
        if self.translations:
            stored["translations"] = dict(self.translations)
        if self.note:
            stored["note"] = self.note
        return stored


@dataclass(frozen=True, slots=True)
class BriefExample:
    """A text before and after an edit that the editors approved."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class BriefSource:
    """A brief that an effective brief comes from, with its version."""

    id: UUID
    name: str
    version: int
    locale: str = ""
    type: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class EffectiveBrief:
    """The values that hold for a text. `sources` are the matching briefs, narrowest first."""

    locale: str = ""
    audience: str = ""
    voice: str = ""
    address: str = ""
    reading_level: str = ""
    never: tuple[str, ...] = ()
    terms: tuple[BriefTerm, ...] = ()
    protected_names: tuple[str, ...] = ()
    examples: tuple[BriefExample, ...] = ()
    sources: tuple[BriefSource, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if no brief says anything about the text."""
        return not any(
            (
                self.audience,
                self.voice,
                self.address,
                self.reading_level,
                self.never,
                self.terms,
                self.protected_names,
                self.examples,
            )
        )

    def to_markdown(self) -> str:
        """Return the brief as agents read it, in English and in a fixed order; empty if it says nothing.

        It has at most `MARKDOWN_MAX` characters.
        """
        if self.is_empty:
            return ""
        return "\n".join(_limit_lines(self._markdown_lines())) + "\n"

    def _markdown_lines(self) -> Iterator[str]:
        yield "# Editorial brief"
        for title, text in (
            ("Audience", self.audience),
            ("Voice", self.voice),
            ("Form of address", self.address),
            ("Reading level", self.reading_level),
        ):
            if text:
                yield f"\n## {title}\n\n{text}"
        if self.never:
            yield "\n## Never say\n"
            yield from (f"- {text}" for text in self.never)
        if self.terms:
            yield "\n## Terms\n"
            yield from (f"- {self._term_sentence(term)}" for term in self.terms)
        if self.protected_names:
            yield "\n## Names to keep exactly as written, in every language\n"
            yield from (f"- {name}" for name in self.protected_names)
        if self.examples:
            yield "\n## Approved edits"
            for example in self.examples:
                yield f"\nBefore:\n\n{_quote(example.before)}\n\nAfter:\n\n{_quote(example.after)}"

    def _term_sentence(self, term: BriefTerm) -> str:
        if term.forbidden and term.preferred:
            said = f"Never write “{term.term}”; write “{term.preferred}”."
        elif term.forbidden:
            said = f"Never write “{term.term}”."
        elif term.preferred:
            said = f"Instead of “{term.term}”, prefer “{term.preferred}”."
        else:
            said = f"“{term.term}”."
        words = [
            f"{locale} “{text}”"
            for locale, text in sorted(term.translations.items())
            if not self.locale or locale == self.locale
        ]
        if words:
            said += f" Translation: {', '.join(words)}."
        return f"{said} {term.note}".rstrip()


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _limit_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield entries up to `MARKDOWN_MAX` characters, with a last line that counts the ones left out."""
    # The last line is shorter than this.
    left, missing = MARKDOWN_MAX - 100, 0
    for line in lines:
        left -= len(line) + 1
        if missing or left < 0:
            missing += 1
        else:
            yield line
    if missing:
        yield f"\nThis brief is too long: {missing} entries are left out here."


def get_effective_brief(
    *, post_type: str | None, locale: str | None, section: str | None = None
) -> EffectiveBrief:
    """Return the brief that holds for texts of the post type, language and section; None means none in particular.

    `section` may be a post's address. One query, always current: it reads only the matching rows through the index of
    the unique constraint. The content version could not be the key of a cache, because a brief is not live content.
    To judge many posts, use `load_briefs`.
    """
    sections = leading_sections(section or "")
    rows = Brief.objects.filter(
        locale__in={"", locale or ""}, type__in={"", post_type or ""}, section__in=["", *sections]
    )
    return combine_briefs(rows, locale=locale or "")


@dataclass(frozen=True, slots=True)
class BriefSet:
    """All briefs of the site, read once, for callers with many posts."""

    rows: Sequence[Brief]

    def effective(
        self, *, post_type: str | None, locale: str | None, section: str | None = None
    ) -> EffectiveBrief:
        """Return the same as `get_effective_brief`, without a query."""
        sections = {"", *leading_sections(section or "")}
        return combine_briefs(
            (
                row
                for row in self.rows
                if row.locale in ("", locale)
                and row.type in ("", post_type)
                and row.section in sections
            ),
            locale=locale or "",
        )


def load_briefs() -> BriefSet:
    """Read all briefs. One query."""
    return BriefSet(list(Brief.objects.all()))


def combine_briefs(rows: Iterable[Brief], *, locale: str) -> EffectiveBrief:
    """Combine matching briefs: in each field the narrowest that says something counts; terms and names add up.

    A section is narrower than a post type, which is narrower than a language. A term of a narrower brief replaces the
    same term of a wider one.
    """
    ranked = sorted(rows, key=_breadth)
    terms: dict[str, BriefTerm] = {}
    names: dict[str, None] = {}
    for row in ranked:
        for stored in row.terms:
            terms.setdefault(stored["term"], _term_of(stored))
        names.update(dict.fromkeys(row.protected_names))

    def narrowest(name: str) -> Any:
        return next((value for row in ranked if (value := getattr(row, name))), None)

    return EffectiveBrief(
        locale=locale,
        audience=narrowest("audience") or "",
        voice=narrowest("voice") or "",
        address=narrowest("address") or "",
        reading_level=narrowest("reading_level") or "",
        never=tuple(narrowest("never") or ()),
        terms=tuple(terms.values()),
        protected_names=tuple(names),
        examples=tuple(BriefExample(**stored) for stored in narrowest("examples") or ()),
        sources=tuple(
            BriefSource(row.pk, row.name, row.version, row.locale, row.type, row.section)
            for row in ranked
        ),
    )


def _breadth(row: Brief) -> tuple[int, bool, bool]:
    depth = len(row.section.split("/")) if row.section else 0
    return -depth, not row.type, not row.locale


def _term_of(stored: Mapping[str, Any]) -> BriefTerm:
    return BriefTerm(
        term=stored["term"],
        preferred=stored.get("preferred", ""),
        forbidden=stored.get("forbidden", False),
        translations=stored.get("translations", {}),
        note=stored.get("note", ""),
    )
