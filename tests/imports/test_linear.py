"""The work of reading any file is linear in its length, not quadratic."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

import pytest

import proofroom_apps.imports
from proofroom_apps.imports.content_source import Reader
from proofroom_apps.imports.html_reader import blocks_of_html, count_dropped_html, limit_depth
from proofroom_apps.imports.items import Item, PostItem
from proofroom_apps.imports.markdown_content import read_markdown
from proofroom_apps.imports.markdown_dialects import MarkdownSource
from proofroom_apps.imports.plan import ImportPlan, make_plan
from proofroom_apps.imports.wordpress_content import WordPressContent, parse_blocks
from tests.imports.backtracking import StepCounter
from tests.imports.executed_lines import lines_run

LINES = (
    "<!--", "<!-- x ", "{/*", "{/* x ", "[[", "[[a|", "](", "[x](", "![", "`", "`` a ", "` ``", "<", "<a ",
    "<T a=\"", "<T {", "<A to=\"a\" ", "<svg ", "<img src= ", "$x", "==x", "%%x", "{%", "{{< x", "{{", "{#a ",
    "{: .x",
    "{a}`", "{a}``x", "\t", " ", "a", "a ", "ab ", ":::", "::: a :", "/// x |  ", "=== \"", "> ", ">", "# ", "#",
    "*", "&#", "- ", "1. ", "[^a]", ":a.", ":a:`", "a=", "--", "src=  ", "(a", "<!-- wp:x {", "<!-- wp:x {} ", "[a ",
    "[a b=\"", "[[a", "%a", "title=\"", ".. ", "!!! a \"", "a-", "\f", "</", "</A", "<A></A",
)  # fmt: skip
"""Repeated parts, as one line or a text."""
PARTS = (
    *LINES, "<!--\n", "<!-- x\n\n", "\n", " \n", ">\n", "\f\n", "/// x\n", "/// x\n\n", "{% highlight x %}\n",
    "{% highlight x %}\nx\n", "<Tab>\n", "<Tab \n", "::: a\n", "!!! note\n", "[^a]:\n", "```\n", ": x\n",
    "x\n: y\n", "- x\n", "> x\n\n", "<div>", "<div>\n\n", "<b>x</b>y", "x\n", "<details><summary>",
    "<font color=a>", "<i></i>x", "[caption]", "[embed]x", "<!-- wp:group -->", '<!-- wp:block {"ref":1} -->',
    "<ul><li>", "```{a}\n:b: c\n",
)  # fmt: skip


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Return all patterns of the package by name."""
    package = proofroom_apps.imports
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".management" in module.name or ".migrations" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield f"{module.name}.{name}", value
            elif isinstance(value, tuple):
                for number, one in enumerate(value):
                    if isinstance(one, tuple) and len(one) > 1 and isinstance(one[1], re.Pattern):
                        yield f"{module.name}.{name}[{number}]", one[1]


@pytest.mark.parametrize(("name", "pattern"), tuple(patterns()))
def test_a_pattern_looks_at_each_character_a_bounded_number_of_times(
    name: str, pattern: re.Pattern[str]
) -> None:
    for part in PARTS:
        for start in ("", "::: x ", "<A "):
            few = StepCounter(pattern, start + part * (60 // len(part))).find_all()
            many = StepCounter(pattern, start + part * (120 // len(part))).find_all()
            assert many < 2.8 * few + 300, (part, start, few, many)


TraceFunction = Callable[[FrameType, str, object], Any]


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of called functions, in Python and in C."""
    number = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


def lines_of(work: Callable[[], object]) -> int:
    """Return the number of executed lines of the outline."""
    return lines_run(work, "imports/plan.py")


def read_wordpress(text: str) -> None:
    allowed = frozenset({"prose", "gallery", "embed", "hero", "accordions"})
    WordPressContent(allowed, lambda id_: "", lambda id_: "", lambda id_: []).read(text, "1")


READERS: dict[str, Callable[[str], object]] = {
    "Markdown": read_markdown,
    "MDX": lambda text: read_markdown(text, MarkdownSource(is_mdx=True)),
    "HTML": lambda text: (count_dropped_html(text), blocks_of_html(text, has_bare_lines=True)),
    "WordPress": read_wordpress,
    "WordPress blocks": lambda text: read_wordpress(f"<!-- wp:paragraph -->{text}"),
}


@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_calls_no_more_than_twice_as_much(name: str) -> None:
    read = READERS[name]
    read("warm")
    for part in PARTS:
        few, many = (
            calls_of(lambda: read(part * (length // len(part))))  # noqa: B023  # called at once
            for length in (2_000, 4_000)
        )
        assert many < 2.6 * few + 2_000, (part, few, many)


def test_a_parser_is_given_no_more_than_some_elements_in_one_another() -> None:
    for part in ("<div>", "<b class=a>", "<font color='>'>", "<ul><li>", "<a-b><i>"):
        limited = limit_depth(f"{part * 2_000}words")

        assert len(re.findall(r"<(?!wbr|li)[a-z]", limited)) == 150
        assert limited.endswith("words")


def test_elements_side_by_side_are_left_alone() -> None:
    for html in ("<div>a</div>" * 400, "<p>a" * 400, "<ul><li>a<li>b</ul>" * 400, "<br>" * 400):
        assert limit_depth(html) == html


def test_elements_after_a_deep_part_are_read_as_before() -> None:
    deep = "<div>" * 400 + "in" + "</div>" * 400

    blocks = blocks_of_html(
        f"{deep}<h2>After</h2><script>'<div>'.repeat(9)</script><p>and <b>on</b>"
    )

    assert [block["type"] for block in blocks if isinstance(block, dict)] == [
        "paragraph", "heading", "paragraph",
    ]  # fmt: skip


def test_block_attributes_may_contain_a_comment_end() -> None:
    root = parse_blocks(
        '<!-- wp:a {"x":"-->"} --><p>in</p><!-- /wp:a --><!-- wp:b /--><!-- wp:c {"y":1} /-->'
    )

    assert [(block.name, block.attributes, block.html) for block in root.blocks] == [
        ("a", {"x": "-->"}, "<p>in</p>"), ("b", {}, ""), ("c", {"y": 1}, ""),
    ]  # fmt: skip


def plan_of(posts: list[PostItem]) -> ImportPlan:
    class Source(Reader):
        scope = "x"

        def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
            yield from posts

        def link_key(self, address: str, base: str) -> str:
            return address

    return make_plan(Source(), "test", lambda: None)


def chain(number: int) -> list[PostItem]:
    return [
        PostItem(str(n), str(n), "page", "en", f"P {n}", f"p{n}", parent_id=str(n + 1))
        for n in range(number)
    ]


def same(number: int) -> list[PostItem]:
    return [PostItem(str(n), str(n), "page", "en", "Same", "same") for n in range(number)]


@pytest.mark.django_db
@pytest.mark.parametrize("made", [chain, same])
def test_the_outline_of_twice_the_posts_takes_twice_the_calls(
    made: Callable[[int], list[PostItem]],
) -> None:
    plan_of(made(2))
    for count in (calls_of, lines_of):
        few, many = (count(lambda: plan_of(made(number))) for number in (500, 1000))  # noqa: B023

        assert many < 2.5 * few
