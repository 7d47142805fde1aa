"""Patterns of fields: valid ones, and none that hangs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from proofroom.core.validation import patterns


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        (r"\d{5}", "12345", ["1234", "123456", "x12345", "12345\n", ""]),
        ("a|bc", "bc", ["abc", "b", "ac"]),
        ("[A-Z]{2}-[0-9]+", "AB-1", ["ab-1", "AB-"]),
        (r"(?:\+\d{1,3} )?\d+", "+49 30", ["49 30"]),
        (r"\p{L}+", "Zoë", ["Zoë1"]),
    ],
)
def test_a_pattern_is_held_against_the_whole_text(
    pattern: str, fits: str, misses: list[str]
) -> None:
    assert patterns.find_pattern_fault(pattern) == ""
    assert patterns.matches(pattern, fits)
    for text in misses:
        assert not patterns.matches(pattern, text), text


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("[", "unclosed character class"),
        ("a)|(b", "unopened group"),
        ("(?=a)a", "may group with"),
        (r"(a)\1", "backreferences are not supported"),
        ("(?x)a#", "may group with"),
        ("(?i)a", "may group with"),
        ("(?P<name>a)", "may group with"),
        ("a" * 201, "has 201 characters"),
        ("a{1001}" * 2, "repeats too much"),
        ("((a{1,9}){1,9}){1,99}", "repeats too much"),
        ("(((((a{1,9}){1,9}){1,9}){1,9}){1,9})", "repeats too much"),
        ("(" + "a" * 150 + "){20}", "repeats too much"),
        (r"\pL{900}", "no regular expression that is known here"),
        ("a{99999999999}", "no regular expression that is known here"),
        ("(" * 150, "no regular expression that is known here"),
    ],
)
def test_what_is_no_pattern_here_is_refused(pattern: str, says: str) -> None:
    assert says in patterns.find_pattern_fault(pattern)


_HANGS_ELSEWHERE = [
    "(a+)+",
    "(a|a)*b",
    "(.*)*x",
    "(a|aa)+$",
    "([a-zA-Z]+)*",
    "(.*a){12}",
    "(.{0,30}){0,30}x?",
    "((a{1,5}){1,5}){1,9}",
    "[01]*1[01]{400}[01]*2",
]
_RUN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from proofroom.core.validation import patterns
for pattern in sys.argv[1:]:
    assert patterns.find_pattern_fault(pattern) == "", (pattern, patterns.find_pattern_fault(pattern))
    for text in ("a" * 499 + "!", "01" * 250, "é" * 500, "a" * 1_000_000):
        patterns.matches(pattern, text)
print("done")
"""


def test_threat_26_no_pattern_hangs_on_any_text() -> None:
    """In a separate process with a CPU limit, because backtracking would take years."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *_HANGS_ELSEWHERE], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr[-500:]


def test_a_text_beyond_the_bound_fits_no_pattern() -> None:
    assert patterns.matches("a*", "a" * 500)
    assert not patterns.matches("a*", "a" * 501)
