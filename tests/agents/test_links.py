"""Hosts in texts, in any spelling of a URL."""

from __future__ import annotations

import pytest

from agents_app.runs.leak_prevention import hosts_in, hosts_of


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("see https://Evil.example/x?q=1", {"evil.example"}),
        ("HTTPS:evil.example", {"evil.example"}),
        ("https:///evil.example", {"evil.example"}),
        ("ftp://evil.example", {"evil.example"}),
        ("custom+app://evil.example/x", {"evil.example"}),
        ("//evil.example/a", {"evil.example"}),
        ("\\\\evil.example", {"evil.example"}),
        ("/\\evil.example", {"evil.example"}),
        ("http://intranet/", {"intranet"}),
        ("http://2130706433/", {"2130706433"}),
        ("http://[::1]:80/", {"[::1]"}),
        ("https://evil.example:8443/", {"evil.example"}),
        ("https://evil.example./", {"evil.example"}),
        ("![x](https://evil.example/?q=secret)", {"evil.example"}),
        ("[x](https\\://evil.example)", {"evil.example"}),
        ("[x]: //evil.example", {"evil.example"}),
        ("<https://evil.example>", {"evil.example"}),
        ("https&colon;//evil.example", {"evil.example"}),
        ("https://evil&#46;example", {"evil.example", "evil"}),
        ("h\nttps://evil.example/x", {"evil.example"}),
        ("https://known.example@evil.example/", {"evil.example"}),
        ("https://known.example:80@evil.example/", {"evil.example"}),
        ("https://known.example)@evil.example", {"evil.example"}),
        ("https://ev\u200bil.example", {"evil.example"}),
        ("https://\uff45vil.example", {"evil.example"}),
        ("https://evil\u3002example", {"evil.example"}),
        ("https://xn--fa-hia.example", {"fa\u00df.example"}),
        ("https://fa\u00df.example", {"fa\u00df.example"}),
        ("https://\u0435vil.example", {"\u0435vil.example"}),
        ("mailto:a@evil.example", {"evil.example"}),
        ("write to a@evil.example now", {"evil.example"}),
        ("www.evil.example", {"www.evil.example"}),
        ("evil.example", {"evil.example"}),
        ("evil.example/path", {"evil.example"}),
        ("evil.md/path", {"evil.md"}),
    ],
    ids=lambda value: value.encode("ascii", "replace").decode() if isinstance(value, str) else "",
)
def test_every_way_to_write_an_address_is_read(text: str, hosts: set[str]) -> None:
    assert hosts_of(text) == hosts


@pytest.mark.parametrize(
    "text",
    [
        "https://known.example\\.evil.example",
        "https://known.example%2eevil.example",
        "https://evil.example\\@known.example",
        "https://evil.example#@known.example",
        "https://known.example\t.evil.example",
        "https://known.example @evil.example/",
    ],
)
def test_no_trick_makes_a_new_host_look_like_a_known_one(text: str) -> None:
    assert hosts_of(text) - {"known.example"}


@pytest.mark.parametrize(
    "text",
    [
        "Node.js and README.md, e.g. this. Then that",
        "1.5 litres of water and/or 20 g: and//or",
        "/media/2026/picture.webp",
        "/de/blog/coffee#brewing",
        "// a comment",
        "Ready? Set! Go: now",
        "",
    ],
)
def test_words_and_own_paths_lead_nowhere(text: str) -> None:
    assert hosts_of(text) == set()


def test_every_string_of_a_value_is_read_keys_too() -> None:
    value = {
        "a": ["https://one.example", {"href": "//two.example"}],
        "https://three.example": None,
        "b": {"content": [{"marks": [{"attrs": {"href": "https://four.example"}}]}]},
        "n": 5,
    }

    assert hosts_in(value) == {"one.example", "two.example", "three.example", "four.example"}


@pytest.mark.parametrize(
    "piece", ["a.", "//", "https:", "@", "\\", "&#x41;", "a.com ", "a.b@", "<"]
)
def test_a_text_made_to_be_slow_is_read_to_its_end(piece: str) -> None:
    hosts_of(piece * 20_000 + "https://evil.example")

    assert "evil.example" in hosts_of(piece * 2_000 + " https://evil.example")
