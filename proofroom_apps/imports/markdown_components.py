"""Converts MDX components in a text to the content, titles, links and pictures that they show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Final

_VALUE: Final = r"\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_PAIR: Final = re.compile(rf"(?<![\w:.-])([\w:.-]+)\s*=\s*({_VALUE})")
_TAG: Final = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Z][\w.]*|(?=>))"
    rf"(?P<values>(?:\s+(?:[\w:.-]+(?:\s*=\s*(?:{_VALUE}))?|\{{\s*\.\.\.[^{{}}]*\}}))*)\s*(?P<empty>/)?>"
)
_TAG_START: Final = re.compile(r"^\s*</?(?:[A-Z]|>)")
_LINKED: Final = re.compile(r"<(?P<name>[A-Z]\w*)(?P<values>\s[^<>]*)>(?P<text>[^<>]*)</(?P=name)>")
_TARGET: Final = re.compile(r"\b(?:to|href)=[\"'{]+([^\"'{}<>]+)[\"'}]")
_CODE: Final = re.compile(r"(?<!`)(`{1,32})(?!`).*?(?<!`)\1(?!`)")
# Docusaurus: `src={require("./a.png").default}` and `href={useBaseUrl("/a")}`.
_REQUIRED: Final = re.compile(
    r"\b(src|href)=\{\s*(?:require\(\s*|useBaseUrl\(\s*)?[\"'`]([^\"'`{}]+)[\"'`]\s*\)?(?:\.default)?\s*\}"
)
_TITLES: Final = ("title", "label", "header", "heading", "summary", "name")
_TEXTS: Final = frozenset(
    {
        *_TITLES,
        "text",
        "description",
        "caption",
        "subtitle",
        "tagline",
        "content",
        "body",
        "children",
    }
    | {"question", "answer", "quote", "author", "alt", "eyebrow", "intro", "lead", "note", "cta"}
)
"""Attributes whose value is text, even if it is one word."""
_TECHNICAL: Final = frozenset(
    {
        "class",
        "classname",
        "style",
        "id",
        "key",
        "src",
        "href",
        "to",
        "link",
        "icon",
        "type",
        "variant",
    }
    | {
        "size",
        "width",
        "height",
        "color",
        "as",
        "rel",
        "target",
        "slot",
        "lang",
        "language",
        "loading",
    }
    | {"align", "sizes", "srcset", "groupid", "querystring", "frame", "client:load", "client:only"}
    | {"defaultvalue", "value", "synckey", "data", "code", "d", "viewbox", "transform"}
)
"""Attributes for appearance or position."""
_SENTENCE: Final = re.compile(r"[^\W\d_]{2}[^\s/\\]{0,60}\s+\S{0,60}?[^\W\d_]{2}")
"""Pattern of at least two words."""
_NO_WORDS: Final = re.compile(r"true|false|[\W\d_]*")
_LITERAL: Final = re.compile(
    r"\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|\{\s*(?P<mark>[\"'`])(?P<text>[^\"'`]*)(?P=mark)\s*\}"
)
_IMAGES: Final = ("Image", "Img", "Figure", "ThemedImage", "Screenshot", "Frame")
_LONGEST_TAG: Final = 60


def without_components(
    text: str,
    is_mdx: bool,
    simpler: Counter[str],
    left_out: Counter[str],
    fence: re.Pattern[str],
) -> str:
    """Return the text with the content of its components, indented like the component itself.

    Outside of MDX, a name in angle brackets is a component only if it is closed.
    """
    if "<" not in text and not is_mdx:
        return text
    names = {found["name"] for found in _TAG.finditer(text)}
    if not is_mdx:
        closed = set(re.findall(r"</([A-Z][\w.]*)>", text)) | set(
            re.findall(r"<([A-Z][\w.]*)(?:\s[^<>]*)?/>", text)
        )
        # Otherwise it is a placeholder such as `<Name>`.
        names &= closed
    made: list[str] = []
    deeper: list[int] = []
    depth = 0
    lines = text.split("\n")
    close = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        indent = len(line) - len(line.lstrip(" "))
        line = line[min(indent, depth) :]
        if close:
            made.append(line)
            end = line.strip(" >")
            if end and set(end) == {close[0]} and len(end) >= len(close):
                close = ""
            continue
        found = fence.match(line)
        if found is not None:
            close = found["mark"]
            made.append(line)
            continue
        if is_mdx and line.lstrip().startswith("{/*"):
            left_out["comment {/* … */}"] += 1
            while "*/}" not in line and at < len(lines):
                line = lines[at]
                at += 1
            line = line.partition("*/}")[2]
        line = _REQUIRED.sub(r'\1="\2"', line)
        if _TAG_START.match(line):
            tag, used = _whole_tag(line, lines, at)
            if tag is not None and tag["name"] in names | {""}:
                at += used
                before = line[: len(line) - len(line.lstrip(" "))]
                simpler[f"component <{tag['name']}>"] += not tag["close"] and bool(tag["name"])
                rest = tag.string[tag.end() :]
                if not rest.strip():
                    depth += _nest(tag, deeper, indent, lines, at)
                words = (
                    _shown(tag["name"], _values(tag["values"]), left_out)
                    if not tag["close"]
                    else []
                )
                for one in words:
                    made += ["", before + one]
                made += (
                    ["", before + _inline(rest.strip(), names, simpler, left_out)]
                    if rest.strip()
                    else [""]
                )
                continue
        made.append(_inline(line, names, simpler, left_out))
    return "\n".join(made)


def _whole_tag(line: str, lines: list[str], at: int) -> tuple[re.Match[str] | None, int]:
    """Return the tag at the start of a line, and the number of further lines it spans."""
    text = line.lstrip()
    for used in range(_LONGEST_TAG):
        found = _TAG.match(text)
        if found is not None or at + used >= len(lines) or not lines[at + used].strip():
            return found, used
        text = f"{text}\n{lines[at + used]}"
    return None, 0


def _nest(tag: re.Match[str], deeper: list[int], indent: int, lines: list[str], at: int) -> int:
    """Push the extra indent of a component's content. Return the change of the depth."""
    if tag["close"]:
        return -deeper.pop() if deeper else 0
    if tag["empty"]:
        return 0
    inside = next((line for line in islice(lines, at, None) if line.strip()), "")
    deeper.append(max(0, len(inside) - len(inside.lstrip(" ")) - indent))
    return deeper[-1]


def _values(text: str) -> dict[str, str]:
    """Return the attributes by name. Computed values keep their braces."""
    found: dict[str, str] = {}
    for name, value in _PAIR.findall(text):
        literal = _LITERAL.fullmatch(value)
        text = (
            next((one for one in literal.group("double", "single", "text") if one), "")
            if literal
            else ""
        )
        found[name] = " ".join(text.split()) if literal else value
    return found


def _shown(name: str, values: Mapping[str, str], left_out: Counter[str]) -> list[str]:
    """Return the lines that a component shows of its attributes. Other text attributes are counted as left out."""
    words = {key: value for key, value in values.items() if not value.startswith("{")}
    if name in _IMAGES and "src" in words:
        shown = [f"![{words.get('alt', '')}]({words['src'].replace(' ', '%20')})"]
        used = {"alt"}
    else:
        title = next((key for key in _TITLES if words.get(key)), "")
        address = words.get("href") or words.get("to") or words.get("link") or ""
        shown, used = [], {title}
        if title:
            text = words[title]
            shown.append(f"[{text}]({address.replace(' ', '%20')})" if address else f"**{text}**")
    for key, value in words.items():
        if key in used or key.lower() in _TECHNICAL or not value:
            continue
        if key in _TEXTS or _SENTENCE.search(value):
            shown.append(value)
        elif not _NO_WORDS.fullmatch(value):
            left_out[f"attribute {key} of <{name}>"] += 1
    for key in values.keys() - words.keys():
        if re.search(r"[\"'`][^\"'`]*[^\W\d_]", values[key]) and key.lower() not in _TECHNICAL:
            left_out[f"attribute {key} of <{name}>"] += 1
    return shown


def _inline(line: str, names: set[str], simpler: Counter[str], left_out: Counter[str]) -> str:
    """Return a line with inline components replaced by what they show; code is unchanged."""
    if "<" not in line:
        return line
    parts: list[str] = []
    end = 0
    for code in [*_CODE.finditer(line), None]:
        text = line[end : code.start()] if code else line[end:]

        def linked(found: re.Match[str]) -> str:
            target = _TARGET.search(found["values"])
            if target is None:
                return found[0]
            values = _values(found["values"])
            values = {key: one for key, one in values.items() if key not in ("to", "href")}
            link = f"[{found['text'].strip()}]({target[1].replace(' ', '%20')})"
            return " ".join([*_shown(found["name"], values, left_out), link])

        text = _LINKED.sub(linked, text)

        def shown(found: re.Match[str]) -> str:
            if found["name"] not in names | {""}:
                return found[0]
            if found["close"] or not found["name"]:
                return ""
            simpler[f"component <{found['name']}>"] += 1
            return " ".join(_shown(found["name"], _values(found["values"]), left_out))

        parts.append(_TAG.sub(shown, text))
        if code:
            parts.append(code[0])
            end = code.end()
    return "".join(parts)
