"""Converts inline Markdown extensions to Markdown: roles, wiki links, shortcodes, formulas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

ROLE: Final = re.compile(
    r"(?P<code>(?<!`)(?P<fence>`{1,32})(?!`).*?(?<!`)(?P=fence)(?!`))"
    r"|\{(?P<name>[A-Za-z][\w:+.-]*)\}(?P<marks>`{1,32})(?!`)(?P<text>.+?)(?<!`)(?P=marks)(?!`)",
    re.DOTALL,
)
"""Role pattern.

Code is matched first: braces after it are not a role. Each unclosed fence length is searched once.
"""
_TARGETED: Final = re.compile(r"^(?P<text>.*\S)\s*<(?P<target>[^<>]+)>\s*$", re.DOTALL)
_PARAGRAPHS: Final = re.compile(r"(\n[ \t>]*\n)")
_WIKI: Final = re.compile(
    r"(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]+)(?:\\?\|(?P<label>[^\[\]\n]*))?\]\]"
)
_PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
_NOTE: Final = re.compile(r"\[\^(?P<name>[^\]\s]{1,100})\]")
_ATTRIBUTES: Final = re.compile(
    r"(?<!\{)\{:\s*[#.\w][^{}\n]*\}(?!\})"
    r"|(?<![{\w])[ \t]{0,20}\{\s*[#.][A-Za-z][^{}\n]*\}(?!\})(?=[ \t]*$|(?<=\)).)"
    r"|(?<=[)\]*_\"]|>)\{\s*(?:[#.][A-Za-z]|[\w-]+=[\"'\w])[^{}\n]*\}(?!\})",
    re.MULTILINE,
)
_HEADING_ID: Final = re.compile(
    r"^(?P<line>#{1,6}[ \t][^\n{}]{1,1000}?)[ \t]*\{:?[ \t]*#(?P<id>[\w.:-]{1,200})[ \t]*\}[ \t#]*$",
    re.MULTILINE,
)
"""A heading with an explicit id: `## Words {#id}`."""
_MATH: Final = re.compile(
    r"(?<![\\$\w])(\$\$?)(?=[^\s$])(?P<text>[^$\n]{1,400}?)(?<=[^\s\\])\1(?![\d$\w])"
)
_ICON: Final = re.compile(r":(?:material|octicons|fontawesome|simple)-[\w-]+:")
_PRIVATE: Final = re.compile(r"%%(?=[^%]).*?%%", re.DOTALL)
_MARKED: Final = re.compile(r"(?<![=\w!<>])==(?=[^\s=])([^=\n]+?)(?<=\S)==(?![=\w])")
_TASK: Final = re.compile(
    r"^(?P<head>[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[(?P<done>[ xX])\](?=\s)", re.MULTILINE
)
_NO_TEXT: Final = re.compile(r"(?<!!)\[\]\((?P<target>[^()\s]+)\)")
_ADDRESS: Final = re.compile(
    r"\{\{[<%]\s*(?:rel)?ref\s+(?:path=)?[\"']?(?P<hugo>[^\"'\s>%]+)[\"']?[^{}]*?[>%]\}\}"
    r"|\{%-?\s*(?:link|post_url)\s+(?P<jekyll>[^\s%]+)\s*-?%\}"
    r"|\{\{-?\s*[\"'](?P<filtered>[^\"'{}]+)[\"']\s*\|\s*(?:relative_url|absolute_url|relURL|absURL|prepend:[^{}]*)\s*-?\}\}"
)
_SITE: Final = re.compile(r"\{\{-?\s*site\.(?:baseurl|url)\s*-?\}\}")
_RAW: Final = re.compile(r"[ \t]{0,20}\{%-?\s*(?:end)?raw\s*-?%\}")
_VARIABLE: Final = re.compile(
    r"\{\{-?[ \t]{0,9}(?:page\.|\$frontmatter\.)?([A-Za-z_][\w-]{0,60})[ \t]{0,9}-?\}\}"
)
"""A front matter variable as written in Jekyll, Eleventy and VitePress."""
_PLAYER: Final = re.compile(
    r"\{\{[<%]\s*(?P<site>youtube|vimeo)\s+(?:id=)?[\"']?(?P<id>[\w-]{6,30})[\"']?[^{}]*[>%]\}\}"
)
_FIGURE: Final = re.compile(r"\{\{[<%]\s*(?:figure|img|image)\s+(?P<values>[^{}]*?)/?[>%]\}\}")
_QUOTED_VALUE: Final = re.compile(
    r"(?<![\w-])([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|([^\s\"'`]+))"
)
_ODDITIES: Final = (
    ("Hugo shortcode {{name}}", re.compile(r"\{\{[<%]\s*/?\s*([\w./-]+)")),
    ("Liquid tag {%name%}", re.compile(r"(?<!\{)\{%-?\s*([\w]+)")),
    ("variable {{ … }}", re.compile(r"\{\{-?\s*[\w.$][^{}\n]*\}\}")),
    ("footnote", _NOTE),
    ("wiki link [[…]]", re.compile(r"\[\[[^\[\]\n]+\]\]")),
    ("reStructuredText role", re.compile(r"(?<![\w`]):[a-z][\w:.-]{0,80}:`[^`\n]+`")),
    ("reStructuredText directive", re.compile(r"^[ \t]*\.\.[ \t]+[\w:-]+::", re.MULTILINE)),
)


@dataclass
class SpanReader:
    """Reads the text of one file. `numbers` are the numbers of its footnotes by name, in order of first use."""

    page_title: Callable[[str], str | None]
    notes: Collection[str]
    unknown: Counter[str]
    simpler: Counter[str]
    left_out: Counter[str]
    numbers: dict[str, int] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def read_outside_fences(self, lines: Sequence[str], fence: re.Pattern[str]) -> str:
        made: list[str] = []
        waiting: list[str] = []
        close = ""
        for line in lines:
            found = fence.match(line)
            if close:
                made.append(line)
                if found and found["mark"].startswith(close) and not found["info"].strip():
                    close = ""
            elif found and not (found["mark"][0] == "`" and "`" in found["info"]):
                made += [self.read("\n".join(waiting))] if waiting else []
                waiting = []
                close = found["mark"]
                made.append(line)
            else:
                waiting.append(line)
        return "\n".join([*made, self.read("\n".join(waiting))] if waiting else made)

    def read(self, text: str) -> str:
        text = self._without_private(text)
        return "".join(
            part if number % 2 else self._paragraph(part)
            # Spans end with their paragraph, so an unclosed one changes nothing after it.
            for number, part in enumerate(_PARAGRAPHS.split(text))
        )

    def _without_private(self, text: str) -> str:
        if "%%" not in text or "{{%%" in text:
            return text
        made, number = _PRIVATE.subn("", text)
        self.left_out["comment %%…%%"] += number
        return made

    def _paragraph(self, text: str) -> str:
        made: list[str] = []
        end = 0
        for found in ROLE.finditer(text):
            made += [self._text(text[end : found.start()]), found["code"] or self._role(found)]
            end = found.end()
        return "".join([*made, self._text(text[end:])])

    def _role(self, found: re.Match[str]) -> str:
        name, text = found["name"], found["text"].strip()
        self.simpler[f"role {{{name}}}"] += 1
        targeted = _TARGETED.match(text)
        words, target = (targeted["text"], targeted["target"]) if targeted else (text, text)
        bare = name.rsplit(":", 1)[-1]
        if bare in ("doc", "download"):
            shown = words if targeted else self.page_title(target) or target.rsplit("/", 1)[-1]
            return f"[{shown}]({target.replace(' ', '%20')})"
        if bare in ("ref", "numref", "eq", "term"):
            address = f"#{target.replace(' ', '%20')}"
            title = self.page_title(address)
            if title is not None:
                return f"[{words if targeted or bare == 'term' else title}]({address})"
            return words
        if bare in ("abbr", "index", "sub", "sup", "cite", "u", "button") or targeted:
            return words
        return f"`{words.lstrip('~!')}`"

    def _text(self, text: str) -> str:
        if not text:
            return ""
        text = _ADDRESS.sub(lambda one: one["hugo"] or one["jekyll"] or one["filtered"], text)
        text = _RAW.sub("", _SITE.sub("", text))
        text = _VARIABLE.sub(self._variable, text)
        text = _PLAYER.sub(self._player, text)
        text = _FIGURE.sub(self._figure, text)
        text = _WIKI.sub(self._wiki, text)
        text = _NO_TEXT.sub(self._no_text, text)
        text = _NOTE.sub(self._note, text)
        text = _TASK.sub(lambda one: f"{one['head']}{'☐' if one['done'] == ' ' else '☑'}", text)
        # Before the attributes, with which the id would be removed.
        text = _HEADING_ID.sub(r'\g<line> <a id="\g<id>"></a>', text)
        text, number = _ATTRIBUTES.subn("", text)
        self.left_out["attributes {: … }"] += number
        text, number = _ICON.subn("", text)
        self.left_out["icon :…:"] += number
        text = _MARKED.sub(r"<mark>\1</mark>", text)
        text = _MATH.sub(self._formula, text)
        for label, pattern in _ODDITIES:
            for found in pattern.finditer(text):
                self.unknown[label.replace("name", found[1]) if "name" in label else label] += 1
        return text

    def _variable(self, found: re.Match[str]) -> str:
        value = self.variables.get(found[1])
        if value is None:
            return found[0]
        self.simpler["variable of the front matter"] += 1
        return value

    def _player(self, found: re.Match[str]) -> str:
        self.simpler[f"Hugo shortcode {{{{{found['site']}}}}}"] += 1
        sites = {"youtube": "https://www.youtube.com/watch?v=", "vimeo": "https://vimeo.com/"}
        return f'<iframe src="{sites[found["site"]]}{found["id"]}"></iframe>'

    def _figure(self, found: re.Match[str]) -> str:
        values = {
            one[1]: one[2] or one[3] or one[4] or one[5] or ""
            for one in _QUOTED_VALUE.finditer(found["values"])
        }
        if "src" not in values:
            return found[0]
        self.simpler["Hugo shortcode {{figure}}"] += 1
        source = escape(values["src"])
        image = f'<img src="{source}" alt="{escape(values.get("alt", ""))}">'
        image = f'<a href="{escape(values["link"])}">{image}</a>' if values.get("link") else image
        caption = values.get("caption") or values.get("title") or ""
        return f"{image} *{caption}*" if caption else image

    def _wiki(self, found: re.Match[str]) -> str:
        target = found["target"].strip()
        name, _sign, _part = target.partition("#")
        address = target.replace(" ", "%20")
        label = (found["label"] or "").strip()
        if found["embed"] and _PICTURE.search(name):
            self.simpler["wiki picture ![[…]]"] += 1
            label = "" if re.fullmatch(r"[\dx]*", label) else label  # else its width
            return f"![{label}]({address})"
        if not name:
            self.simpler["wiki link [[…]]"] += 1
            return f"[{label or target.lstrip('#^')}]({address})"
        if self.page_title(name.replace(" ", "%20")) is None:
            return found[0]
        if found["embed"]:
            self.left_out[f"content of ![[{target[:80]}]], a link instead"] += 1
        self.simpler["wiki link [[…]]"] += 1
        return f"[{label or target.replace('#', ' › ')}]({address})"

    def _no_text(self, found: re.Match[str]) -> str:
        """Return a link without text, with the title of its target as text."""
        target = found["target"]
        words = self.page_title(target)
        if words is None:
            bare = target.rstrip("/").rsplit("/", 1)[-1].partition("#")
            words = (bare[2] or bare[0]).rsplit(".", 1)[0].replace("-", " ")
        return f"[{words.replace('[', '(').replace(']', ')')}]({target})"

    def _note(self, found: re.Match[str]) -> str:
        name = found["name"]
        if name not in self.notes:
            return found[0]
        self.simpler["footnote"] += 1
        return f"\\[{self.numbers.setdefault(name, len(self.numbers) + 1)}\\]"

    def _formula(self, found: re.Match[str]) -> str:
        text = found["text"]
        # Two amounts in dollars on one line are no formula.
        if not re.search(r"[\\^_=]", text) or "](" in text:
            return found[0]
        self.simpler["formula"] += 1
        return f"`{text}`"
