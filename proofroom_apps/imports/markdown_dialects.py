"""Converts Markdown extensions to Markdown: notes, tabs, directives, shortcodes, footnotes, definitions, includes.

Unsupported syntax keeps its text. A `DialectReader` counts simplified, left out and unknown parts by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final

from proofroom_apps.imports.markdown_components import without_components
from proofroom_apps.imports.markdown_spans import SpanReader

FENCE: Final = re.compile(r"^(?P<indent>[\s>]*)(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_COLONS: Final = re.compile(r"^(?P<indent>\s*)(?P<mark>:{3,})(?P<info>.*)$")
_CONTAINER: Final = re.compile(
    r"^\{(?P<directive>[A-Za-z][\w:+.-]*)\}\s*(?P<argument>.*)$"
    r"|^\{\s*[.](?P<css>[A-Za-z][\w-]*)[^{}]*\}\s*$"
    r"|^(?P<name>[A-Za-z][\w-]{0,80})\s{0,80}(?:\[(?P<bracket>[^\]]*)\])?(?P<title>[^{}]*)(?:\{[^{}]*\})?$"
)
_BLOCK: Final = re.compile(
    r"^(?P<indent>\s*)(?P<mark>/{3,})\s+(?P<name>[a-z][\w-]*)\s*(?:\|(?P<title>.*))?$"
)
_CODE_TITLE: Final = re.compile(r"\b(?:title|filename|label)\s*=\s*(?:\"([^\"`]+)\"|'([^'`]+)')")
_ADMONITION: Final = re.compile(
    r"^(?P<indent>\s*)(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)[^\"\n]*(?:\"(?P<title>[^\"\n]*)\")?.*$"
)
_TAB: Final = re.compile(r"^(?P<indent>\s*)===[!+]*\s+[\"'](?P<title>[^\n]*)[\"']\s*$")
_ALERT: Final = re.compile(r"^(?P<quote>\s*(?:>\s*)+)\[!(?P<kind>[\w-]+)\][+-]?(?P<title>.*)$")
_CODE_TAG: Final = re.compile(r"^\s*\{(?:%-?|\{[<%])\s*highlight\s+(?P<language>[\w+#-]+).*\}\s*$")
_CODE_TAG_END: Final = re.compile(r"^\s*\{(?:%-?\s*end|\{[<%]\s*/\s*)highlight\b.*\}\s*$")
_LABEL: Final = re.compile(r"^\s*\((?P<name>[A-Za-z][^()\s]{0,200})\)=\s*$")
_FOOTNOTE: Final = re.compile(r"^ {0,3}\[\^(?P<name>[^\]\s]{1,100})\]:[ \t]*(?P<text>.*)$")
_DEFINITION: Final = re.compile(r"^ {0,3}:(?P<gap>[ \t]{1,3})(?=\S)")
_ABBREVIATION: Final = re.compile(r"^ {0,3}\*\[[^\]\n]+\]:")
_INCLUDE: Final = re.compile(
    r"^\s*(?:-{1,}8<-{1,}\s+[\"'](?P<snippet>[^\"';]+)[\"']"
    r"|\{\{[<%]\s*(?P<hugo>include|readfile)\s+(?:file=)?[\"'](?P<file>[^\"']+)[\"']\s*[>%]\}\})\s*$"
)
_BLOCK_BREAK: Final = re.compile(r"^\+\+\+(?:\s*\{.*\})?\s*$")
_CONTENTS: Final = re.compile(r"^\s*(?:\[TOC\]|\[\[_?toc_?\]\])\s*$", re.IGNORECASE)
_MDX_CODE: Final = re.compile(
    r"^(?:import\s+(?:[\w{*][^\n]*\sfrom\s+)?[\"'][^\n]*|export\s+(?:const|default|function|let)\b.*)$"
)
_ATTRIBUTES_ONLY: Final = re.compile(r"^\s*\{:?\s*(?:[#.][\w-]|[\w-]+=|toc\b)[^{}\n]*\}\s*$")
_NO_TERM: Final = re.compile(r"^\s*(?:[-*+>#|<]|\d+[.)]\s|$)")
_MATH_LINE: Final = re.compile(r"^(?P<indent>\s*)\$\$(?P<text>[^$]*(?:\$\$\s*)?)$")
_OPTION: Final = re.compile(r"^\s*:[\w-]+:(?:\s|$)")
_NOTES: Final = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "error", "attention", "info"}
    | {"seealso", "admonition", "versionadded", "versionchanged", "deprecated", "success", "question"}
    | {"example", "quote", "abstract", "summary", "todo", "details", "dropdown", "failure", "bug"}
    | {"check", "help", "faq", "cite", "tldr", "done", "fail", "missing", "spoiler", "epigraph"}
)  # fmt: skip
_CODE: Final = frozenset(
    {
        "code",
        "code-block",
        "sourcecode",
        "code-cell",
        "parsed-literal",
        "mermaid",
        "math",
        "literalinclude",
    }
)
_WITH_TEXT: Final = frozenset(
    {"card", "grid", "grid-item", "grid-item-card", "tab-set", "tab-item", "tab", "tabs", "exercise"}
    | {"solution", "proof", "topic", "sidebar", "margin", "aside", "glossary", "div", "rubric", "container"}
    | {"theorem", "definition", "lemma", "table", "columns", "column", "align", "code-group", "panel"}
)  # fmt: skip
_SILENT: Final = frozenset(
    {"toctree", "contents", "currentmodule", "index", "toc", "tableofcontents"}
)
_DEEPEST: Final = 12
# A file may include itself, directly or through others.
_MOST_INCLUDES: Final = 50


@dataclass
class MarkdownSource:
    """The context of a text: data from the folder that contains it."""

    page_title: Callable[[str], str | None] = lambda address: None
    """Returns the title of the page at an address, or None."""
    included: Callable[[str], str | None] = lambda name: None
    """Returns the text of an included file, or None."""
    is_mdx: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values of the front matter, which replace `{{ name }}`."""


@dataclass
class DialectReader:
    """Converts one text to CommonMark with HTML."""

    source: MarkdownSource = field(default_factory=MarkdownSource)
    unknown: Counter[str] = field(default_factory=Counter)
    simpler: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    labels: list[str] = field(default_factory=list)
    _notes: dict[str, list[str]] = field(default_factory=dict)
    _includes: int = 0

    def read(self, text: str) -> str:
        lines = self.blocks(self._lines(text), 0)
        spans = SpanReader(
            self.source.page_title,
            self._notes,
            self.unknown,
            self.simpler,
            self.left_out,
            variables=self.source.variables,
        )
        made = spans.read_outside_fences(lines, FENCE)
        notes: list[str] = []
        # A footnote may refer to another one, which then gets a number.
        names: list[str] = []
        while len(notes) < len(spans.numbers):
            if len(notes) == len(names):
                names += islice(spans.numbers, len(names), None)
            name = names[len(notes)]
            body = spans.read_outside_fences(self._notes[name], FENCE).strip()
            notes.append(f"{len(notes) + 1}. " + body.replace("\n", "\n   "))
        for name in self._notes.keys() - spans.numbers.keys():
            self.left_out[f"footnote [^{name}] that nothing names"] += 1
        return "\n\n".join([made, "\n".join(notes)]) if notes else made

    def _lines(self, text: str) -> list[str]:
        is_mdx = self.source.is_mdx
        return without_components(text, is_mdx, self.simpler, self.left_out, FENCE).split("\n")

    def blocks(self, lines: Sequence[str], depth: int) -> list[str]:
        if depth > _DEEPEST:
            return list(lines)
        made: list[str] = []
        defined = -1
        # Computed at most once for all lines: a search at each line would take quadratic time.
        slash_ends: dict[int, int] | None = None
        last_code_end: int | None = None
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            found = FENCE.match(line)
            if found is not None and not (found["mark"][0] == "`" and "`" in found["info"]):
                body, at = fenced(lines, at, found)
                made += self._fence(found, body, depth)
            elif (found := _COLONS.match(line)) is not None:
                container = _container_of(found)
                if container is None:
                    made.append("")
                    continue
                body, at = _in_colons(lines, at, len(found["mark"]))
                made += self._container(found["indent"], container, body, depth)
            elif (found := _BLOCK.match(line)) is not None and at - 1 in (
                slash_ends := _slash_ends(lines) if slash_ends is None else slash_ends
            ):
                body = _in_slashes(lines[at : slash_ends[at - 1]], found["indent"])
                at = slash_ends[at - 1] + 1
                self.simpler[f"block /// {found['name']}"] += 1
                made += self._noted(
                    found["indent"], found["name"], (found["title"] or "").strip(), body, depth
                )
            elif (found := _ADMONITION.match(line)) is not None and (
                (body := _indented(lines, at, len(found["indent"]))[0]) or found["title"]
            ):
                at = _indented(lines, at, len(found["indent"]))[1]
                title = found["title"]
                title = _words(found["kind"]) if title is None else title
                self.simpler["note"] += 1
                made += _quoted(found["indent"], title, self.blocks(body, depth + 1))
            elif (found := _TAB.match(line)) is not None:
                body, at = _indented(lines, at, len(found["indent"]))
                self.simpler["tab"] += 1
                made += self._titled(found["indent"], found["title"], body, depth)
            elif (found := _ALERT.match(line)) is not None:
                title = found["title"].strip() or _words(found["kind"])
                self.simpler["note"] += 1
                made += [f"{found['quote']}**{title}**", found["quote"].rstrip()]
            elif (found := _CODE_TAG.match(line)) is not None and at <= (
                last_code_end := _last_code_end(lines) if last_code_end is None else last_code_end
            ):
                made.append(f"~~~~{found['language']}")
                while not _CODE_TAG_END.match(lines[at]):
                    made.append(lines[at])
                    at += 1
                at += 1
                made.append("~~~~")
            elif (found := _MATH_LINE.match(line)) is not None and (
                formula := _formula(lines, at, found["text"])
            ) is not None:
                body, at = formula
                self.simpler["formula"] += 1
                indent = found["indent"]
                made += [
                    "",
                    f"{indent}~~~~latex",
                    *(indent + one for one in body),
                    f"{indent}~~~~",
                    "",
                ]
            elif (found := _LABEL.match(line)) is not None:
                self.labels.append(found["name"].lower())
            elif (found := _FOOTNOTE.match(line)) is not None:
                body, at = _indented(lines, at, 0, fewest=2)
                self._notes.setdefault(
                    found["name"], self.blocks([found["text"], *body], depth + 1)
                )
            elif (found := _DEFINITION.match(line)) is not None and self._is_term(made):
                first = line[found.end() :]
                body, at = _indented(lines, at, 0, fewest=2)
                while made and not made[-1].strip():
                    made.pop()
                if len(made) > defined and not made[-1].startswith("**"):
                    made[-1] = f"**{made[-1].strip()}**"
                self.simpler["definition"] += 1
                made += ["", *self.blocks([first, *body], depth + 1)]
                defined = len(made)
                made.append("")
            elif (found := _INCLUDE.match(line)) is not None:
                made += self._included(found["snippet"] or found["file"], line, depth)
            elif _ABBREVIATION.match(line):
                self.left_out["abbreviation *[…]"] += 1
            elif _BLOCK_BREAK.match(line):
                made.append("")
            elif _CONTENTS.match(line):
                self.left_out["table of contents"] += 1
            elif _ATTRIBUTES_ONLY.match(line):
                self.left_out["attributes {: … }"] += 1
            elif self.source.is_mdx and _MDX_CODE.match(line):
                self.left_out["import or export of MDX"] += 1
                is_open = line.rstrip().endswith(("{", "[", "(", ","))
                while is_open and at < len(lines) and lines[at].strip():
                    at += 1
            else:
                made.append(line)
        return made

    def _is_term(self, made: Sequence[str]) -> bool:
        """Return whether the text before a definition is one line of words, or another definition."""
        above = [line for line in made[-3:] if line.strip()]
        return bool(above) and not _NO_TERM.match(above[-1].replace("**", "", 1))

    def _titled(self, indent: str, title: str, body: Sequence[str], depth: int) -> list[str]:
        inside = self.blocks(body, depth + 1)
        head = [f"{indent}**{title.strip()}**", ""] if title.strip() else []
        return ["", *head, *(f"{indent}{line}".rstrip() for line in inside), ""]

    def _fence(self, fence: re.Match[str], body: list[str], depth: int) -> list[str]:
        """Return code, or the content of a MyST directive."""
        info = fence["info"].strip()
        directive = re.match(r"^\{([A-Za-z][\w:+.-]*)\}\s*(.*)$", info)
        head = f"{fence['indent']}{fence['mark']}"
        if directive is None:
            braces = re.match(r"^\{\s{0,80}(?:\.)?([\w+#-]{1,80})[^{}]*\}$", info)
            language = (
                braces[1] if braces else info.split(" ")[0].partition("{")[0].partition(":")[0]
            )
            title = _CODE_TITLE.search(info)
            rest = _CODE_TITLE.sub("", info[len(language) :])
            self.simpler["options of a code block"] += braces is None and bool(rest.strip())
            above: list[str] = []
            if title is not None:
                blank = fence["indent"].rstrip()
                above = [blank, f"{fence['indent']}`{title[1] or title[2]}`", blank]
            return [*above, f"{head}{language}", *body]
        is_closed = bool(body) and set(body[-1].strip(" >")) == {fence["mark"][0]}
        inside = body[:-1] if is_closed else body
        indent = fence["indent"]
        plain = [one.removeprefix(indent) for one in inside]
        return self._directive(directive[1], directive[2], indent, plain, depth)

    def _container(
        self, indent: str, info: re.Match[str], body: list[str], depth: int
    ) -> list[str]:
        """Return the lines of a colon container, as in MyST, Docusaurus, VitePress or Pandoc."""
        plain = [one.removeprefix(indent) for one in body]
        if info["directive"]:
            return self._directive(info["directive"], info["argument"], indent, plain, depth)
        name = info["name"] or info["css"]
        title = (info["bracket"] or info["title"] or "").strip()
        self.simpler[f"container :::{name}"] += 1
        return self._noted(indent, name, title, plain, depth)

    def _noted(
        self, indent: str, name: str, title: str, body: Sequence[str], depth: int
    ) -> list[str]:
        """Return a note as a quotation, another container as its title and content."""
        kind = name.lower().removeprefix("callout-")
        if kind in _NOTES:
            return _quoted(indent, title or _words(kind), self.blocks(body, depth + 1))
        return self._titled(indent, title, body, depth)

    def _directive(
        self, name: str, argument: str, indent: str, body: list[str], depth: int
    ) -> list[str]:
        """Return the Markdown for a MyST or Sphinx directive."""
        bare = name.rsplit(":", 1)[-1]
        head = list(takewhile(_OPTION.match, body))
        body = body[len(head) :]
        options = {key: value.strip() for _start, key, value in (one.split(":", 2) for one in head)}
        # MyST: options may be YAML between two lines of `---`.
        has_yaml = bool(body) and body[0].strip() == "---" and bare not in _CODE
        if has_yaml and "---" in (one.strip() for one in body[1:]):
            end = next(at for at, one in enumerate(body[1:], 1) if one.strip() == "---")
            body = body[end + 1 :]
        label = options.get("name") or options.get("label")
        if label:
            self.labels.append(label.lower())
        self.simpler[f"directive {{{name}}}"] += 1
        argument = argument.strip()
        if bare in _SILENT:
            return [""]
        if bare in ("include", "literalinclude"):
            text = self._file(argument)
            if text is None:
                return [f"`{argument}`"]
            if bare == "include" and "literal" not in options and "lang" not in options:
                return self.blocks(self._lines(text), depth + 1)
            language = options.get("language") or options.get("lang") or ""
            return ["", f"~~~~{language}", *text.rstrip("\n").split("\n"), "~~~~", ""]
        if bare in _CODE:
            language = {"mermaid": "mermaid", "math": "latex"}.get(bare) or argument.split(" ")[0]
            made = [f"{indent}~~~~{language}", *(indent + one for one in body), f"{indent}~~~~"]
            caption = options.get("caption") or options.get("filename") or ""
            return ["", f"{indent}*{caption}*", "", *made] if caption else made
        if bare in ("figure", "image", "iframe", "video", "youtube"):
            alt, address = options.get("alt", ""), argument.replace(" ", "%20")
            tag = (
                f'<iframe src="{address}"></iframe>' if bare == "iframe" else f"![{alt}]({address})"
            )
            tag = f"[{address}]({address})" if bare in ("video", "youtube") else tag
            return ["", f"{indent}{tag}", "", *self.blocks(body, depth + 1), ""]
        if bare in _NOTES:
            return _quoted(indent, argument or _words(bare), self.blocks(body, depth + 1))
        if bare == "list-table":
            return [
                "",
                *([f"**{argument}**", ""] if argument else []),
                *_list_table(body, options),
                "",
            ]
        if bare in _WITH_TEXT or bare.startswith(("prf", "grid", "tab", "card")):
            return self._titled(indent, re.sub(r"^[\d ]+$", "", argument), body, depth)
        if argument and not body:
            return [f"{indent}`{argument}`"]
        head = [argument] if argument else []
        return [f"{indent}~~~~{bare}", *(indent + one for one in [*head, *body]), f"{indent}~~~~"]

    def _included(self, name: str, line: str, depth: int) -> list[str]:
        text = self._file(name)
        if text is None:
            return [f"`{line.strip()}`"]
        return ["", *self.blocks(self._lines(text), depth + 1), ""]

    def _file(self, name: str) -> str | None:
        self._includes += 1
        text = self.source.included(name) if self._includes <= _MOST_INCLUDES else None
        if text is None:
            self.left_out[f"file {name[:80]}, which is not in the folder"] += 1
        else:
            self.simpler["included file"] += 1
        return text


def fenced(lines: Sequence[str], at: int, fence: re.Match[str]) -> tuple[list[str], int]:
    """Return the lines of a fence with its closing line, and the index of the next line."""
    body: list[str] = []
    mark = fence["mark"]
    close = re.compile(rf"^[\s>]*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    while at < len(lines):
        if ">" in fence["indent"] and not lines[at].lstrip().startswith(">"):
            break
        body.append(lines[at])
        at += 1
        if close.match(body[-1]):
            break
    return body, at


def _in_colons(lines: Sequence[str], at: int, width: int) -> tuple[list[str], int]:
    """Return the lines up to the colons that close a container, and the index of the next line."""
    body: list[str] = []
    inner = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        fence = FENCE.match(line)
        if fence is not None and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            inside, at = fenced(lines, at, fence)
            body += [line, *inside]
            continue
        colons = _COLONS.match(line)
        if colons is not None and _container_of(colons) is not None:
            inner += len(colons["mark"]) == width
        elif colons is not None and len(colons["mark"]) >= width:
            if inner == 0:
                break
            inner -= 1
        body.append(line)
    return body, at


def _container_of(colons: re.Match[str]) -> re.Match[str] | None:
    """Return the match of an opening line of colons, or None for a closing line."""
    return _CONTAINER.match(colons["info"].strip().rstrip(":").rstrip())


def _slash_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return the index of each PyMdown block's last line by that of its first. Each line is read once."""
    ends: dict[int, int] = {}
    begun: dict[str, list[int]] = {}
    close = ""
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        bare = line.strip()
        if fence is not None and (not close or (bare.startswith(close) and not fence["info"])):
            close = "" if close else fence["mark"]
        elif not close and (block := _BLOCK.match(line)) is not None:
            begun.setdefault(block["mark"], []).append(number)
        elif not close and begun.get(bare):
            ends[begun[bare].pop()] = number
    return ends


def _in_slashes(lines: Sequence[str], indent: str) -> list[str]:
    """Return the lines of a PyMdown block without its options."""
    body = [line.removeprefix(indent) for line in lines]
    options = 0
    while options < len(body) and re.match(r"^ {4}[\w-]+:(?:\s|$)", body[options]):
        options += 1
    return body[options:]


def _last_code_end(lines: Sequence[str]) -> int:
    """Return the index of the last line that ends code in tags, or -1."""
    numbers = (n for n in range(len(lines) - 1, -1, -1) if _CODE_TAG_END.match(lines[n]))
    return next(numbers, -1)


def _indented(lines: Sequence[str], at: int, indent: int, fewest: int = 4) -> tuple[list[str], int]:
    """Return the following lines with a deeper indent, without it, and the index of the next line."""
    body: list[str] = []
    base = 0
    while at < len(lines):
        line = lines[at].expandtabs(4) if lines[at].startswith("\t") else lines[at]
        depth = len(line) - len(line.lstrip(" "))
        if line.strip() and depth < indent + fewest:
            break
        if line.strip() and not base:
            base = min(depth, indent + 4)
        body.append(line[min(base, depth) :] if line.strip() else "")
        at += 1
    while body and not body[-1]:
        body.pop()
        at -= 1
    return body, at


def _formula(lines: Sequence[str], at: int, first: str) -> tuple[list[str], int] | None:
    """Return the lines of a formula and the index of the next line, or None if it is not a formula.

    It may end on its first line.
    """
    body: list[str] = []
    rest = first
    while len(body) < 50:
        text, end, after = rest.partition("$$")
        if text.strip():
            body.append(text.strip())
        if end:
            return (body, at) if not after.strip() else None
        if at >= len(lines) or not lines[at].strip():
            return None
        rest = lines[at]
        at += 1
    return None


def _quoted(indent: str, title: str, inside: Sequence[str]) -> list[str]:
    head = [f"**{title}**", ""] if title else []
    return ["", *(f"{indent}> {line}".rstrip() for line in [*head, *inside]), ""]


def _list_table(body: Sequence[str], options: dict[str, str]) -> list[str]:
    """Return a list-table as an HTML table with Markdown in its cells."""
    rows: list[list[list[str]]] = []
    for line in body:
        if found := re.match(r"^\s*[*-]\s+[*-](?:\s+(.*))?$", line):
            rows.append([[found[1] or ""]])
        elif rows and (found := re.match(r"^\s{1,4}[*-](?:\s+(.*))?$", line)):
            rows[-1].append([found[1] or ""])
        elif rows and line.strip():
            rows[-1][-1].append(line.strip())
    heads = int(options["header-rows"]) if options.get("header-rows", "").isdigit() else 0
    made = ["<table>"]
    for number, row in enumerate(rows):
        tag = "th" if number < heads else "td"
        made.append("<tr>")
        for cell in row:
            # The blank lines end the HTML block, so that the cell is read as Markdown.
            made += [f"<{tag}>", "", *cell, "", f"</{tag}>"]
        made.append("</tr>")
    return [*made, "</table>"]


def _words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").capitalize()
