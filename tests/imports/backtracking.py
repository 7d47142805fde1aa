"""Counts the steps of a backtracking matcher, to distinguish linear patterns from quadratic ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as ops  # type: ignore[attr-defined]  # has no stubs
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

_MOST_TIMES: Final = 12
"""Maximum of bounded repetitions, because a bound is only a constant factor."""
_CATEGORIES: Final = {
    ops.CATEGORY_DIGIT: r"\d", ops.CATEGORY_NOT_DIGIT: r"\D", ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S", ops.CATEGORY_WORD: r"\w", ops.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


class StepCounter:
    """Matches one pattern in one text. `steps`: number of visited characters and positions."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self.text, self.flags, self.steps = text, pattern.flags, 0
        self.nodes = list(parser.parse(pattern.pattern, pattern.flags))
        self.groups: dict[int, tuple[int, int]] = {}
        self.is_anchored = bool(self.nodes) and self.nodes[0][0] is ops.AT
        self.is_anchored &= (
            not self.flags & re.MULTILINE or self.nodes[0][1] is not ops.AT_BEGINNING
        )

    def find_all(self) -> int:
        """Search all matches like `finditer`. Return the number of steps."""
        at = 0
        while at <= len(self.text):
            end = next(self._match(self.nodes, 0, at), None)
            if self.is_anchored:
                break
            at = at + 1 if end is None or end == at else end
        return self.steps

    def _match(self, nodes: Sequence[Any], number: int, at: int) -> Iterator[int]:
        if number == len(nodes):
            yield at
            return
        for end in self._one(nodes[number], at):
            yield from self._match(nodes, number + 1, end)

    def _one(self, node: Any, at: int) -> Iterator[int]:
        op, value = node
        self.steps += 1
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            if self._fits(op, value, at):
                yield at + 1
        elif op is ops.BRANCH:
            for branch in value[1]:
                yield from self._match(list(branch), 0, at)
        elif op is ops.SUBPATTERN:
            for end in self._match(list(value[3]), 0, at):
                self.groups[value[0]] = (at, end)
                yield end
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            least, most, inside = value
            most = (
                min(most, max(least, _MOST_TIMES)) if most is not ops.MAXREPEAT else len(self.text)
            )
            yield from self._repeat(list(inside), least, most, at, op is ops.MIN_REPEAT)
        elif op is ops.AT:
            if self._stands(value, at):
                yield at
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            direction, inside = value
            start = at if direction > 0 else at - inside.getwidth()[0]
            found = start >= 0 and next(self._match(list(inside), 0, start), None) is not None
            if found == (op is ops.ASSERT):
                yield at
        elif op is ops.GROUPREF:
            start, end = self.groups[value]
            if self.text.startswith(self.text[start:end], at):
                yield at + end - start
        elif op is ops.GROUPREF_EXISTS:
            yield from self._match(
                list(value[1] if value[0] in self.groups else value[2] or ()), 0, at
            )
        else:
            raise NotImplementedError(op)

    def _repeat(
        self, nodes: list[Any], least: int, most: int, at: int, is_lazy: bool
    ) -> Iterator[int]:
        if len(nodes) == 1 and nodes[0][0] in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            op, value = nodes[0]
            ends = [at]
            if is_lazy and least == 0:
                yield at
            while len(ends) <= most and self._fits(op, value, ends[-1]):
                self.steps += 1
                ends.append(ends[-1] + 1)
                if is_lazy and len(ends) > least:
                    yield ends[-1]
            if not is_lazy:
                for end in reversed(ends[least:]):
                    self.steps += 1
                    yield end
            return
        if is_lazy and least <= 0:
            yield at
        if most > 0:
            for end in self._match(nodes, 0, at):
                if end > at or least > 0:
                    yield from self._repeat(nodes, least - 1, most - 1, end, is_lazy)
        if not is_lazy and least <= 0:
            yield at

    def _fits(self, op: Any, value: Any, at: int) -> bool:
        if at >= len(self.text):
            return False
        chars = {self.text[at]}
        if self.flags & re.IGNORECASE:
            chars |= {self.text[at].lower(), self.text[at].upper()}
        if op is ops.ANY:
            return bool(self.flags & re.DOTALL) or self.text[at] != "\n"
        if op is ops.IN:
            return any(_is_in(value, char) for char in chars)
        return any(ord(char) == value for char in chars) == (op is ops.LITERAL)

    def _stands(self, where: Any, at: int) -> bool:
        text = self.text
        before, after = text[at - 1 : at] if at else "", text[at : at + 1]
        if where is ops.AT_BEGINNING:
            return at == 0 or bool(self.flags & re.MULTILINE and before == "\n")
        if where is ops.AT_END:
            return after == "" or (
                after == "\n" and (at + 1 == len(text) or bool(self.flags & re.MULTILINE))
            )
        if where is ops.AT_BEGINNING_STRING:
            return at == 0
        if where is ops.AT_END_STRING:
            return after == ""
        is_edge = bool(re.match(r"\w", before)) != bool(re.match(r"\w", after))
        return is_edge == (where is ops.AT_BOUNDARY)


def _is_in(items: Sequence[Any], char: str) -> bool:
    is_negated = items[0][0] is ops.NEGATE
    for op, value in items[is_negated:]:
        if (
            (op is ops.LITERAL and ord(char) == value)
            or (op is ops.RANGE and value[0] <= ord(char) <= value[1])
            or (op is ops.CATEGORY and re.match(_CATEGORIES[value], char))
        ):
            return not is_negated
    return is_negated
