"""HTML of other programs, and the Markdown of what both the editor and the importer make of it."""

from __future__ import annotations

from typing import Final

NUMBERS: Final = (
    "<p>About 10<sup>6</sup> people on 5 m<sup>2</sup>; H<sub>2</sub>O; see note<sup>1</sup></p>"
)
CASES: Final = [
    (
        NUMBERS,
        "About 10<sup>6</sup> people on 5 m<sup>2</sup>; H<sub>2</sub>O; see note<sup>1</sup>",
    ),
    ('10<span style="vertical-align:super;font-size:.6em">6</span>', "10<sup>6</sup>"),
    ('H<span style="vertical-align: sub">2</span>O', "H<sub>2</sub>O"),
    ('10<span style="position:relative;mso-text-raise:3.0pt">6</span>', "10<sup>6</sup>"),
    ('x<sup>a<sup>b</sup></sup><sup><a href="#fn1">1</a></sup>', "x<sup>a^b</sup>[<sup>1</sup>](#fn1)"),
    ("Let <math><mi>x</mi><mo>=</mo><mn>2</mn></math> be", "Let x = 2 be"),
    (
        "<math><msup><mn>10</mn><mn>6</mn></msup><mo>&lt;</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
        "10<sup>6</sup> \\< 1/2",
    ),
    (
        "<p>Let <span class=katex><span class=katex-mathml><math><semantics><mrow><mi>x</mi></mrow>"
        "<annotation>x</annotation></semantics></math></span><span class=katex-html>x</span></span> be</p>",
        "Let x be",
    ),
    ("<del>40 €</del> 30 € <strike>new</strike>", "~~40 €~~ 30 € ~~new~~"),
    ('<span style="text-decoration:line-through">40 €</span> 30 €', "~~40 €~~ 30 €"),
    ('<span style="font-weight:700">a</span> <b style="font-weight:normal">b</b>', "**a** b"),
    ("He said <q>no</q>.", "He said “no”."),
    ("<ruby>漢字<rt>かんじ</rt></ruby>です", "漢字(かんじ)です"),
    ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字(かんじ)"),
    (
        "<ul><li><input type=checkbox checked> done</li><li><input type='checkbox'> open</li></ul>",
        "- ☑ done\n- ☐ open",
    ),
    ('Hi <img class="emoji" alt="😀" src="https://s.example/1f600.svg">!', "Hi 😀!"),
    ('seen<span style="display:none">unseen</span>', "seen"),
    ('seen<span style="mso-hide:all">unseen</span>', "seen"),
    ("<ol start=3><li>c<li>d</ol>", "3. c\n4. d"),
    ("<ol><li>a<li value=7>g<li>h</ol>", "1. a\n\n7) g\n8) h"),
    ("<ol reversed><li>b<li>a</ol>", "- 2\\. b\n- 1\\. a"),
]  # fmt: skip
