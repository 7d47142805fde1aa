"""The check of the English finds what it is for. `./run check` runs it over the project."""

from __future__ import annotations

import pytest

from tests.words.english.grammar import mistakes
from tests.words.english.phrases import everywhere, in_messages
from tests.words.english.sentences import broken_lines
from tests.words.english.texts import Text, descriptions, documents, messages, pages, sources


def test_the_check_reads_each_kind_of_text() -> None:
    pages_read, files = {text.name for text in pages()}, {text.name for text in sources()}

    assert {"README.md", "docs/admin/index.md", "agents_app/agents/translator.md"} <= pages_read
    assert {"run", "content/posts/decide.py", "static/cms/agents/runs.js"} <= files
    assert "content/comparison/words/fact_words/en.yaml" not in files
    assert "agents_app/agents/translator.md" not in {text.name for text in documents()}
    assert len(messages()) > 2000
    assert len(descriptions()) > 100


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Whoever asks gets it.", [1]),
        ("The rows\nthat are due, except those\nthat failed.", [2]),
        ("# It runs for\n# good.", [1]),
        ("    // It runs for\n    // good.", [1]),
        ("It is for goods.", []),
        ("The answer is for people who may read.", []),
    ],
)
def test_a_phrase_is_found_as_whole_words_also_across_lines(text: str, lines: list[int]) -> None:
    assert [finding.line for finding in everywhere().find(Text("file", text))] == lines


def test_a_finding_says_what_to_write_instead() -> None:
    (finding,) = everywhere().find(Text("file.py", "x\nStarts anew."))

    assert str(finding) == "file.py:2: Instead of “anew” write “again”."


@pytest.mark.parametrize(
    ("message", "count"),
    [
        ("What waits", 1),
        ("Make what is ticked", 1),
        ("Told for good", 1),
        ("The ticket is open", 0),
        ("Outdoor shop", 0),
    ],
)
def test_more_is_refused_in_messages(message: str, count: int) -> None:
    assert len([*in_messages().find(Text("message", message))]) == count


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("One sentence.\nAnother one.", []),
        ("One sentence. Another one.", [1]),
        ("- **A label.** One sentence.\n  Another, e.g. this one.", []),
        ("A sentence on\ntwo lines.", [1]),
        ("- One sentence that\n  goes on.", [1]),
        ("| One. Two. |\n|---|\n\n```\nOne. Two.\n```", []),
        ("Read [it. All](page.md).\n`A. B` is code.", [1]),
        ("Before code:\n\n- an item\n- another", []),
    ],
)
def test_each_sentence_has_its_line(page: str, lines: list[int]) -> None:
    assert [finding.line for finding in broken_lines(Text("page.md", page))] == lines


@pytest.mark.clients  # installs from npm
def test_harper_finds_mistakes_and_knows_the_vocabulary() -> None:
    found = mistakes(
        [
            Text("right", "Proofroom reads XLIFF.\n\nThe colour is grey, and `wrnog` is code."),
            Text("wrong 😀", "Fine here 😀.\n\nThis is an mistake."),
            Text("spelling", "An accomodation and and a colour."),
        ]
    )

    assert {(one.name, one.line, one.problem.split(":")[0]) for one in found} == {
        ("wrong 😀", 3, "“an”"),
        ("spelling", 1, "“accomodation”"),
        ("spelling", 1, "“and and”"),
    }
