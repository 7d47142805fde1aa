"""Layout suggestions: modules chosen by their guidance, the rules of the post type, and a brief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from content.store.module_group_queries import find_group
from proofroom.core.errors import RuleViolation
from proofroom.core.search import word_positions
from proofroom.definitions import Module, allowed_modules, find_post_type, modules

ROLE_ORDER: Final = ("opening", "navigation", "body", "support", "aside", "divider", "closing")
"""The built-in roles from the top of a page to the bottom; other roles come before `closing`."""
DEFAULT_ROLES: Final = ("opening", "body")
"""Roles of every page, independent of the brief."""
_SHORTEST: Final = 3
_FAINT: Final = 0.3
"""Minimum weight of a match. A module below shares only common words with the brief."""
_MOST_OF_ROLE: Final = 2
_SMALL: Final = (
    "about above all also and are around before but each end ending every for from has have how into its many may "
    "more most not one other our out over should some such than that the their them then there these they this three "
    "two under very was what when where which who whose will with without would you your"
)
_SMALL_WORDS: Final = frozenset(_SMALL.split())
"""Common English words without meaning for a page. Guidance in another language relies on word frequency alone."""
_ENDINGS: Final = ("ies", "ing", "ed", "es", "en", "s", "y", "e")


@dataclass(frozen=True, slots=True)
class ModuleCandidate:
    """A module for a role. `weight` is how well it matches the brief, 0 if it doesn't."""

    module: type[Module]
    why: str
    weight: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A suggested layout. `missing`: roles without an allowed module; `order`: one module for each other role."""

    roles: Mapping[str, list[ModuleCandidate]]
    missing: tuple[str, ...]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Brief:
    """The word stems of a brief. An empty brief matches nothing."""

    stems: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)

    def weight_of(self, text: str) -> float:
        # Sorted, because a float sum depends on the order, and equal requests must give equal results.
        return sum(self.weights.get(stem, 0.0) for stem in sorted(self.stems & stems_of(text)))


def suggest(
    post_type: str,
    *,
    roles: Sequence[str] = (),
    brief: str = "",
    exclude: Collection[str] = (),
    most: int = 3,
) -> Layout:
    """Return candidates for each role: the given roles, those matching the brief, or all.

    A brief is matched by word stems without case, in the language of the guidance. A stem weighs more if fewer
    modules have it in name, label or `use_when`. A brief selects opening, body, roles it names, and roles of
    modules it matches. Candidates are sorted by weight, then by presence in the post type's template, number of
    roles, position of this role among them, and name, so the result is deterministic. Raises `RuleViolation`
    for an unknown post type.
    """
    allowed = [row for row in allowed_modules(post_type) if row.name not in exclude]
    brief_words = (
        _Brief(stems_of(brief), _weights(tuple(modules.names()))) if brief.strip() else _Brief()
    )
    group = find_post_type(post_type).default_module_group
    template: tuple[str, ...] = ()
    if group:
        # The default group may be missing or invalid; suggestions work without it.
        with suppress(RuleViolation):
            template = tuple(place.type for place in find_group(group).modules)
    wanted = set(roles)
    if not wanted:
        wanted = {role for row in allowed for role in row.ai.layout_roles}
        if brief.strip():
            fitting = {
                role for row in allowed if _weight(row, brief_words) for role in row.ai.layout_roles
            }
            named = {role for role in known_roles() if stems_of(role) & brief_words.stems}
            wanted = {*DEFAULT_ROLES, *fitting, *named}
    found = {role: _candidates(role, allowed, brief_words, template) for role in _in_order(wanted)}
    return Layout(
        roles={role: rows[:most] for role, rows in found.items() if rows},
        missing=tuple(role for role, rows in found.items() if not rows),
        order=_recommended(found, template, bool(brief.strip())),
    )


def known_roles() -> tuple[str, ...]:
    """Return the roles of all modules, from the top of a page to the bottom."""
    return _in_order({role for row in modules for role in row.ai.layout_roles})


def _in_order(roles: Iterable[str]) -> tuple[str, ...]:
    """Return the roles without duplicates, from the top of a page to the bottom; other roles come before
    `closing`."""
    last = ROLE_ORDER.index("closing")
    places_ = {role: (place, "") for place, role in enumerate(ROLE_ORDER)}
    # Half a position before `closing`, sorted by name.
    return tuple(sorted(set(roles), key=lambda role: places_.get(role, (last - 0.5, role))))


def _candidates(
    role: str, allowed: Iterable[type[Module]], brief_words: _Brief, template: Sequence[str]
) -> list[ModuleCandidate]:
    found: list[ModuleCandidate] = []
    for row in allowed:
        if role not in row.ai.layout_roles:
            continue
        # The lines of guidance that match the brief, or all lines if none does.
        lines = row.ai.use_when or (row.description,)
        reasons = [line for line in lines if brief_words.weight_of(line)] or [*lines]
        if row.name in template:
            reasons.append("the post type's template has it")
        found.append(ModuleCandidate(row, "; ".join(reasons), _weight(row, brief_words)))

    def rank(item: ModuleCandidate) -> tuple[float, bool, int, int, str]:
        own = item.module.ai.layout_roles
        name = item.module.name
        return (-item.weight, name not in template, len(own), own.index(role), name)

    return sorted(found, key=rank)


def _recommended(
    found: Mapping[str, Sequence[ModuleCandidate]], template: Sequence[str], is_brief: bool
) -> tuple[str, ...]:
    """Return the best unused module for each role.

    With a brief: first modules of the template for the default roles, then modules that match the brief, from
    top to bottom.
    """
    names: list[str] = []
    for role, rows in found.items():
        free = [item for item in rows if item.module.name not in names]
        if not is_brief:
            names += [item.module.name for item in free[:1]]
            continue
        usual = [item for item in free if item.module.name in template] or free[:1]
        chosen = usual[:1] if role in DEFAULT_ROLES else []
        chosen += [item for item in free if item.weight and item not in chosen]
        most = 1 if role == "opening" else _MOST_OF_ROLE
        names += [item.module.name for item in chosen[:most]]
    return tuple(names)


def _weight(row: type[Module], brief_words: _Brief) -> float:
    weight = brief_words.weight_of(_guidance_text(row)) if brief_words.stems else 0.0
    return weight if weight >= _FAINT else 0.0


def _guidance_text(row: type[Module]) -> str:
    return "\n".join([row.name, row.label, *(row.ai.use_when or (row.description,))])


@lru_cache(maxsize=4)
def _weights(names: tuple[str, ...]) -> Mapping[str, float]:
    """Return the weight of each stem. `names` is only the cache key: other modules give other weights."""
    counts = Counter(stem for row in modules for stem in stems_of(_guidance_text(row)))
    return {stem: 1 / count for stem, count in counts.items()}


def stems_of(text: str) -> frozenset[str]:
    """Return the word stems of a text, without case, accents, endings and very short words."""
    words = (word for _, _, word in word_positions(text))
    return frozenset(
        _stem(word) for word in words if len(word) >= _SHORTEST and word not in _SMALL_WORDS
    )


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word
