"""HTML of other programs, and the expected Markdown of both the editor and the importer."""

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
    # Lists of Google Docs: a selection that begins at a sub-item, lists right inside lists, headings in items.
    (
        '<b id="docs-internal-guid-9" style="font-weight:normal"><ol><ol><li><p>one a</p></li><li><'
        'p>one b</p></li></ol>'
        "<li><p>two</p></li><li><p>three</p></li></ol></b>",
        "1. one a\n2. one b\n3. two\n4. three",
    ),
    ("<ul><ul><ul><li>c</li></ul><li>b</li></ul><li>a</li></ul>", "- c\n- b\n- a"),
    ("<ul><ol><li>one</li></ol><li>dot</li></ul>", "1. one\n\n- dot"),
    ("<ul><li>a</li><ul><li>b</li></ul><ul><li>c</li></ul><li>d</li></ul>", "- a\n  - b\n\n  + c\n\n- d"),
    (
        "<ol><li><p>a</p></li><ol><ol><ol><li><p>b</p></li></ol></ol><li><p>c</p></li><ol><li><p>d</p></li></ol></ol>"
        "<li><p>e</p></li></ol>",
        "1. a\n   1. b\n   2. c\n      1. d\n2. e",
    ),
    ("<ol><li><ol><li>b</li></ol></li><li>c</li></ol>", "1. 1. b\n2. c"),
    ("<ul><li><h3>Head</h3><p>t</p></li></ul>", "- ### Head\n\n  t"),
    ("<ul><li><div><h3>Head</h3></div></li><li>b</li></ul>", "- ### Head\n- b"),
    ("<ul>text<li>a</li><p>b</p></ul>", "- text\n- a\n- b"),
    ("<ul><li>a</li><li></li><li><br></li></ul>", "- a"),
    ("<ol><li><p>a</p><br><p>b</p></li><li><p>c</p><p><br></p></li></ol>", "1. a\n\n   b\n\n2. c"),
    ("<menu><li>a</li></menu>", "- a"),
    ('<ol type="a"><li>a</li></ol>', "1. a"),
    # Lines that only keep a distance.
    (
        '<b id="docs-internal-guid-2" style="font-weight:normal"><p>one</p><br><p>two</p><br><h2>head</h2></b>',
        "one\n\ntwo\n\n## head",
    ),
    ("<p class=MsoNormal>Text</p><p class=MsoNormal><o:p>&nbsp;</o:p></p>", "Text"),
    ("<p><br></p><p>a<br></p><p>&nbsp;</p><p><br>b<br>c</p><h2><br></h2><p></p>", "a\n\nb\\\nc"),
    ("<div>a</div><div><br></div><div>b</div>", "a\n\nb"),
    ("a<br>b<br><p>c</p><br><br>d", "a\\\nb\n\nc\n\nd"),
    ("<blockquote><p>a</p><br><p>&nbsp;</p></blockquote><blockquote><p></p></blockquote>", "> a"),
    ("<p><span>one<br></span><span><br></span></p><p>two</p>", "one\n\ntwo"),
    ("<table><tr><td><p>a</p><br></td><td><p>&nbsp;</p></td></tr></table>", "| a |  |\n| --- | --- |"),
    ("<dl><dt>Term</dt><dd>Words</dd></dl>", "**Term**\n\nWords"),
    ("<h2><p>Head</p></h2><p>t</p>", "## Head\n\nt"),
    # Lists of Word.
    (
        "<p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span style"
        "='mso-list:Ignore'>1."
        "<span>&nbsp; </span></span><![endif]>one<o:p></o:p></p>\n<p style='mso-list:l0 level2 lfo1'><span "
        "style='mso-list:Ignore'>a.</span>inner</p>\n<p style='mso-list:l0 level1 lfo1'><span style"
        "='mso-list:Ignore'>2."
        "</span>two</p>\n<p style='mso-list:l1 level1 lfo2'><span style='mso-list:Ignore'>·</span>dot</p><p>end</p>",
        "1. one\n   1. inner\n2. two\n\n- dot\n\nend",
    ),
    ("<p style='mso-list:l0 level1 lfo1'>7) seven</p><p style='mso-list:none'>plain</p>", "7. seven\n\nplain"),
    # Comments of Word.
    (
        "<p class=MsoNormal><a style='mso-comment-reference:MK_1;mso-comment-date:20240101T1200'>Words</a><span "
        "class=MsoCommentReference><span style='font-size:8.0pt'><a class=msocomanchor id=\"_anchor_1\" "
        'href="#_msocom_1" name="_msoanchor_1">[MK1]</a><span style=\'mso-special-character:comment\'>&nbsp;</span>'
        "</span></span> end.</p><div style='mso-element:comment-list'><hr class=msocomoff align=left><div "
        "style='mso-element:comment'><div id=\"_com_1\"><p class=MsoCommentText>Really?</p></div></div></div>",
        "Words end.",
    ),
    # Code: a block of its own, lines that keep their space, lines in a font for code.
    ('<pre class="language-js">if (a) {<br>  b();<br>}</pre>', "```js\nif (a) {\n  b();\n}\n```"),
    ("<pre><div>a</div><div>  b</div></pre>", "```\na\n  b\n```"),
    (
        "<div style=\"color:#ccc;font-family:Menlo, Monaco, 'Courier New', monospace;white-space:pre;\"><div><span "
        'style="color:#c58">def</span><span> f():</span></div><div>    <span>return</span> 1</div><'
        'br><div>\tx</div></div>',
        "```\ndef f():\n    return 1\n\n\tx\n```",
    ),
    (
        '<p><span style="font-family:Consolas,monospace">if a:</span></p><p><span style="font-famil'
        'y:Consolas,monospace">'
        "&nbsp;&nbsp;&nbsp; b</span></p><p>Words</p>",
        "```\nif a:\n    b\n```\n\nWords",
    ),
    (
        '<b style="font-weight:normal" id="docs-internal-guid-3"><p><span style="font-family:\'Cour'
        'ier New\',monospace;'
        'white-space:pre-wrap">a {</span><span style="font-family:\'Courier New\',monospace"><br></span><span '
        'style="font-family:\'Courier New\',monospace">&nbsp;&nbsp;b</span></p></b>',
        "```\na {\n  b\n```",
    ),
    ("<pre>10<sup>6</sup> x<sub>i</sub></pre>", "```\n10⁶ x_i\n```"),
    (
        '<p style="font-family:monospace">one line</p><p style="white-space:pre-wrap">two   words</p>',
        "one line\n\ntwo words",
    ),
    (
        '<table class="highlight"><tr><td class="blob-num" data-line-number="1"></td><td class="blo'
        'b-code">a:</td></tr>'
        '<tr><td class="blob-num"></td><td class="blob-code">  b</td></tr></table>',
        "```\na:\n  b\n```",
    ),
]  # fmt: skip
