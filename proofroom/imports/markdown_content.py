"""Markdown of documentation sites: CommonMark with tables and HTML, and the additions of other programs.

What is not understood stays in the text, and is counted by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from proofroom.core.json import JsonObject
from proofroom.definitions.richtext.markdown_reader import parser
from proofroom.imports.html_reader import KNOWN_TAGS, Frame, blocks_of_html

_FENCE: Final = re.compile(r"^(?P<indent>\s*)(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_COLON_FENCE: Final = re.compile(r"^\s*:{3,}\s*(?P<info>.*?)\s*$")
_ADMONITION: Final = re.compile(
    r"^(?P<indent>\s*)(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)[^\"\n]*(?:\"(?P<title>[^\"\n]*)\")?\s*$"
)
_ALERT: Final = re.compile(r"^(\s*>\s*)\[!(?P<kind>\w+)\]\s*$")
_NOTES: Final = frozenset(
    {
        "note",
        "warning",
        "tip",
        "hint",
        "important",
        "caution",
        "danger",
        "error",
        "attention",
        "info",
    }
    | {
        "seealso",
        "admonition",
        "versionadded",
        "versionchanged",
        "deprecated",
        "success",
        "question",
    }
    | {"example", "quote", "abstract", "summary", "todo", "details", "dropdown"}
)
_CODE: Final = frozenset({"code", "code-block", "sourcecode", "literalinclude", "parsed-literal"})
_SILENT: Final = frozenset({"toctree", "contents", "currentmodule", "highlight", "index", "only"})
_ROLE: Final = re.compile(
    r"(?P<code>(?<!`)(?P<fence>`+)(?!`).*?(?<!`)(?P=fence)(?!`))"
    r"|\{(?P<name>[A-Za-z][\w:+.-]*)\}(?P<marks>`+)(?!`)(?P<text>.+?)(?P=marks)",
    re.DOTALL,
)
"""Code comes first: braces at its end are no role."""
_TARGETED: Final = re.compile(r"^(?P<text>.*\S)\s*<(?P<target>[^<>]+)>\s*$", re.DOTALL)
_TAG: Final = re.compile(r"</?([A-Za-z][\w.:-]*)")
_ODDITIES: Final = (
    ("Hugo shortcode {{name}}", re.compile(r"\{\{[<%]\s*/?\s*([\w./-]+)")),
    ("Liquid tag {%name%}", re.compile(r"\{%-?\s*([\w]+)")),
    ("variable {{ … }}", re.compile(r"\{\{-?\s*[\w.$][^{}\n]*\}\}")),
    ("footnote", re.compile(r"\[\^[^\]\s]+\](?!:)")),
    ("wiki link [[…]]", re.compile(r"\[\[[^\[\]\n]+\]\]")),
    ("attributes {: … }", re.compile(r"\{:\s*[#.\w][^{}\n]*\}")),
    ("heading attributes {#…}", re.compile(r"^#{1,6}\s.*\{[#.][^{}\n]*\}\s*$", re.MULTILINE)),
    ("import or export of MDX", re.compile(r"^(?:import\s+[\w{*].*\sfrom|export\s+const)\s", re.MULTILINE)),
    ("reStructuredText role", re.compile(r"(?<![\w`]):[a-z][\w:.-]*:`[^`\n]+`")),
    ("reStructuredText directive", re.compile(r"^\s*\.\.\s+[\w:-]+::", re.MULTILINE)),
)  # fmt: skip


@dataclass
class MarkdownContent:
    """Blocks of a text, and what of it was not understood."""

    blocks: list[JsonObject | Frame] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)


def read_markdown(text: str) -> MarkdownContent:
    """Any text as blocks."""
    content = MarkdownContent()
    text = _without_additions(text.replace("\r\n", "\n").replace("\r", "\n"), content.unknown)
    env: dict[str, object] = {"unknown": content.unknown}
    content.blocks = blocks_of_html(_renderer().render(text, env))
    return content


def _without_additions(text: str, unknown: Counter[str]) -> str:
    """Notes of several dialects as quotations, roles as their text; fenced code stays as it is."""
    lines: list[str] = []
    outside: list[str] = []
    all_lines = text.split("\n")
    number = 0
    while number < len(all_lines):
        line = all_lines[number]
        number += 1
        fence = _FENCE.match(line)
        if fence is not None and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            body, number = _fenced(all_lines, number, fence)
            directive = re.match(r"^\{([\w:+.-]+)\}\s*(.*)$", fence["info"].strip())
            if directive is None:
                lines += [line, *body]
            else:
                lines += _directive(directive[1], directive[2], fence, body, unknown)
            continue
        colon = _COLON_FENCE.match(line)
        if colon is not None:
            name = re.match(r"\{?([\w-]+)\}?", colon["info"])
            if name is not None:
                unknown[f"container :::{name[1]}"] += 1
                title = colon["info"][name.end() :].strip(" []{}")
                lines += ["", f"**{title or name[1].capitalize()}**", ""]
            else:
                lines.append("")
            continue
        admonition = _ADMONITION.match(line)
        if admonition is not None:
            body, number = _indented(all_lines, number, len(admonition["indent"]))
            title = admonition["title"]
            title = admonition["kind"].capitalize() if title is None else title
            lines += _quoted(admonition["indent"], title, body, unknown)
            continue
        alert = _ALERT.match(line)
        if alert is not None:
            lines.append(f"{alert[1]}**{alert['kind'].capitalize()}**")
            lines.append(alert[1].rstrip())
            continue
        outside.append(line)
        lines.append(line)
    plain = re.sub(r"(`+)(?!`).*?\1", "", "\n".join(outside))
    roles = "\n".join(outside)
    for found in _ROLE.finditer(roles):
        if found["name"]:
            unknown[f"role {{{found['name']}}}"] += 1
    for label, pattern in _ODDITIES:
        for found in pattern.finditer(plain):
            unknown[label.replace("name", found[1]) if found.lastindex else label] += 1
    return _replace_roles("\n".join(lines))


def _fenced(lines: Sequence[str], number: int, fence: re.Match[str]) -> tuple[list[str], int]:
    """The lines of a fence with its end, and the number of the line after it."""
    body: list[str] = []
    mark = fence["mark"]
    close = re.compile(rf"^\s*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    while number < len(lines):
        body.append(lines[number])
        number += 1
        if close.match(body[-1]):
            break
    return body, number


def _indented(lines: Sequence[str], number: int, indent: int) -> tuple[list[str], int]:
    body: list[str] = []
    while number < len(lines):
        line = lines[number]
        if (
            line.strip()
            and len(line) - len(line.lstrip(" ")) < indent + 4
            and not line.startswith("\t")
        ):
            break
        body.append(line[indent + 4 :] if not line.startswith("\t") else line[1:])
        number += 1
    while body and not body[-1].strip():
        body.pop()
        number -= 1
    return body, number


def _quoted(indent: str, title: str, body: Sequence[str], unknown: Counter[str]) -> list[str]:
    inside = _without_additions("\n".join(body), unknown).split("\n")
    head = [f"**{title}**", ""] if title else []
    return ["", *(f"{indent}> {line}".rstrip() for line in [*head, *inside]), ""]


def _directive(
    name: str, argument: str, fence: re.Match[str], body: Sequence[str], unknown: Counter[str]
) -> list[str]:
    """A directive of MyST or Sphinx as what stands for it in Markdown."""
    unknown[f"directive {{{name}}}"] += 1
    indent, mark = fence["indent"], fence["mark"]
    is_closed = bool(body) and set(body[-1].strip()) == {mark[0]}
    inside = list(body[:-1] if is_closed else body)
    options: list[str] = []
    while inside and re.match(r"^\s*:[\w-]+:", inside[0]):
        options.append(inside.pop(0))
    if name in _SILENT:
        return [""]
    if name in _CODE:
        language = argument.split(" ")[0]
        return [f"{indent}{mark}{language}", *inside, f"{indent}{mark}"]
    if name in ("figure", "image"):
        alt = next((line.split(":", 2)[2].strip() for line in options if ":alt:" in line), "")
        return ["", f"{indent}![{alt}]({argument.strip().replace(' ', '%20')})", "", *inside, ""]
    if name in _NOTES:
        title = argument.strip() or name.capitalize()
        return _quoted(indent, title, inside, unknown)
    return [f"{indent}{mark}", *inside, f"{indent}{mark}"]


def _replace_roles(text: str) -> str:
    """Roles as their text outside of fences; those that name a document become links to it."""
    result: list[str] = []
    fence = ""
    buffer: list[str] = []

    def flush() -> None:
        if buffer:
            result.append(_ROLE.sub(_role, "\n".join(buffer)))
            buffer.clear()

    for line in text.split("\n"):
        found = _FENCE.match(line.lstrip("> "))
        if fence:
            result.append(line)
            if found and found["mark"].startswith(fence) and not found["info"].strip():
                fence = ""
        elif found:
            flush()
            fence = found["mark"]
            result.append(line)
        else:
            buffer.append(line)
    flush()
    return "\n".join(result)


def _role(found: re.Match[str]) -> str:
    if found["code"]:
        return found["code"]
    text = found["text"].strip()
    targeted = _TARGETED.match(text)
    words, target = (targeted["text"], targeted["target"]) if targeted else (text, text)
    if found["name"] in ("doc", "download") or found["name"].endswith(":doc"):
        bare = target.rsplit("/", 1)[-1] if not targeted else words
        return f"[{bare}]({target.replace(' ', '%20')})"
    if found["name"] in ("ref", "term", "numref", "std:ref", "abbr", "index") or targeted:
        return words
    return f"`{words.lstrip('~!')}`"


@cache
def _renderer() -> MarkdownIt:
    markdown = parser()
    markdown.options["html"] = True
    markdown.enable(["html_block", "html_inline"])
    markdown.add_render_rule("html_block", _render_html)
    markdown.add_render_rule("html_inline", _render_html)
    return markdown


def _render_html(
    renderer: object, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType
) -> str:
    """HTML as it is, but for tags that no browser knows: those are text, such as `<your name>`."""
    html = tokens[number].content
    if html.startswith(("<!--", "<?", "<![CDATA[")):
        return html if html.startswith("<!--") else escape(html)
    unknown = env.get("unknown")

    def judge(found: re.Match[str]) -> str:
        tag = found[1].lower()
        if tag in KNOWN_TAGS:
            if (
                tag in ("script", "style", "iframe", "form", "video")
                and isinstance(unknown, Counter)
                and not found[0].startswith("</")
            ):
                unknown[f"element <{tag}>"] += 1
            return found[0]
        if isinstance(unknown, Counter) and not found[0].startswith("</"):
            unknown[f"element <{found[1]}>"] += 1
        return "&lt;" + found[0][1:]

    return _TAG.sub(judge, html)
