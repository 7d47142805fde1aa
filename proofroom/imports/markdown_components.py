"""Components of MDX in a text as what readers see of them: their content, titles, links and pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_VALUE: Final = r"\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_PAIR: Final = re.compile(rf"([\w:.-]+)\s*=\s*({_VALUE})")
_TAG: Final = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Z][\w.]*|(?=>))"
    rf"(?P<values>(?:\s+(?:[\w:.-]+(?:\s*=\s*(?:{_VALUE}))?|\{{\s*\.\.\.[^{{}}]*\}}))*)\s*(?P<empty>/)?>"
)
_TAG_START: Final = re.compile(r"^\s*</?(?:[A-Z]|>)")
_LINKED: Final = re.compile(
    r"<(?P<name>[A-Z]\w*)\s[^<>]*?\b(?:to|href)=[\"'{]+(?P<to>[^\"'{}<>]+)[\"'}]+[^<>]*>(?P<text>[^<>]*)</(?P=name)>"
)
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_REQUIRED: Final = re.compile(
    r"\b(src|href)=\{\s*(?:require\(\s*|useBaseUrl\(\s*)?[\"'`]([^\"'`{}]+)[\"'`]\s*\)?(?:\.default)?\s*\}"
)
_TITLES: Final = ("title", "label", "header", "heading", "summary", "name")
_IMAGES: Final = ("Image", "Img", "Figure", "ThemedImage", "Screenshot", "Frame")
_LONGEST_TAG: Final = 60


def without_components(
    text: str,
    is_mdx: bool,
    simpler: Counter[str],
    left_out: Counter[str],
    fence: re.Pattern[str],
) -> str:
    """The text with what its components show, and what stands in them no deeper than they do.

    Outside of MDX, a name between angle brackets is a component only where it is closed.
    """
    if "<" not in text and not is_mdx:
        return text
    names = {found["name"] for found in _TAG.finditer(text)}
    if not is_mdx:
        closed = set(re.findall(r"</([A-Z][\w.]*)>", text)) | set(
            re.findall(r"<([A-Z][\w.]*)(?:\s[^<>]*)?/>", text)
        )
        names &= closed
    made: list[str] = []
    deeper: list[int] = []
    lines = text.split("\n")
    close = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        indent = len(line) - len(line.lstrip(" "))
        line = line[min(indent, sum(deeper)) :]
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
                    _nest(tag, deeper, indent, lines, at)
                words = _shown(tag["name"], _values(tag["values"])) if not tag["close"] else []
                for one in words:
                    made += ["", before + one]
                made += (
                    ["", before + _inline(rest.strip(), names, simpler)] if rest.strip() else [""]
                )
                continue
        made.append(_inline(line, names, simpler))
    return "\n".join(made)


def _whole_tag(line: str, lines: list[str], at: int) -> tuple[re.Match[str] | None, int]:
    """The tag at the beginning of a line, and how many lines after it belong to it."""
    text = line.lstrip()
    for used in range(_LONGEST_TAG):
        found = _TAG.match(text)
        if found is not None or at + used >= len(lines) or not lines[at + used].strip():
            return found, used
        text = f"{text}\n{lines[at + used]}"
    return None, 0


def _nest(tag: re.Match[str], deeper: list[int], indent: int, lines: list[str], at: int) -> None:
    if tag["close"]:
        if deeper:
            deeper.pop()
    elif not tag["empty"]:
        inside = next((one for one in lines[at:] if one.strip()), "")
        deeper.append(max(0, len(inside) - len(inside.lstrip(" ")) - indent))


def _values(text: str) -> dict[str, str]:
    return {
        found[1]: " ".join(found[2].strip("{}").strip("\"'`").split())
        for found in _PAIR.finditer(text)
    }


def _shown(name: str, values: Mapping[str, str]) -> list[str]:
    """What a component shows of its attributes."""
    if name in _IMAGES and "src" in values:
        return [f"![{values.get('alt', '')}]({values['src'].replace(' ', '%20')})"]
    title = next((values[key] for key in _TITLES if values.get(key)), "")
    address = values.get("href") or values.get("to") or values.get("link") or ""
    shown = []
    if title:
        shown.append(f"[{title}]({address.replace(' ', '%20')})" if address else f"**{title}**")
    shown += [values[key] for key in ("text", "description", "caption") if values.get(key)]
    return shown


def _inline(line: str, names: set[str], simpler: Counter[str]) -> str:
    """A line with components in its text; code stays as it is."""
    if "<" not in line:
        return line
    parts: list[str] = []
    end = 0
    for code in [*_CODE.finditer(line), None]:
        text = line[end : code.start()] if code else line[end:]
        text = _LINKED.sub(
            lambda found: f"[{found['text'].strip()}]({found['to'].replace(' ', '%20')})", text
        )

        def shown(found: re.Match[str]) -> str:
            if found["name"] not in names | {""}:
                return found[0]
            if found["close"] or not found["name"]:
                return ""
            simpler[f"component <{found['name']}>"] += 1
            return " ".join(_shown(found["name"], _values(found["values"])))

        parts.append(_TAG.sub(shown, text))
        if code:
            parts.append(code[0])
            end = code.end()
    return "".join(parts)
