"""The proposals of the demo: field values, search texts, cleaned or changed texts, images, and answers in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from agents_app.providers.demo.texts import (
    LABEL,
    NOTE,
    SENTENCE,
    UNDERSTOOD,
    Values,
    apply_wish,
    clean,
    edit_of,
    is_document,
    schema_of,
    section,
    shorten,
    shorter,
    tidy,
    tidy_inside,
    values_of,
    wish_of,
    with_texts,
    words_of,
)
from agents_app.providers.interface import Toolbox
from content.document.post_fields import POST_FIELDS
from proofroom.core.i18n.words import IN_WORD, LETTER, compile_pattern
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import modules as module_types
from proofroom.definitions.richtext.nodes import children, kind, to_text


def answer_question(context: Values, tools: Toolbox) -> JsonObject:
    """Describe the site's posts as far as the tools show them; answering the question itself needs a model."""
    question = clean(context.get("openEndedContext"))
    question_note = f" A model would answer “{shorten(question, 120)}”." if question else ""
    posts = call_tool(tools, "list_posts", {"limit": 3})
    items, total = posts.get("items"), posts.get("total")
    if isinstance(items, str) or not isinstance(items, Sequence):
        return {"summary": f"{LABEL}: there is no post to work on.{question_note} {NOTE}"}
    titles = [f"“{clean(item.get('title'))}”" for item in items if isinstance(item, Mapping)]
    count = "1 post" if total == 1 else f"{total} posts"
    description = f"this site has {count}; the latest: {', '.join(titles)}."
    if not titles:
        description = "this site has no posts yet."
    return {"summary": f"{LABEL}: {description}{question_note} {NOTE}"}


def call_tool(tools: Toolbox, name: str, arguments: JsonObject) -> Values:
    """Return a tool's answer; empty if the tool is not available, refused, or did not answer JSON."""
    if name not in {spec.name for spec in tools.specs()}:
        return {}
    result = tools.call(name, arguments)
    if not result.ok:
        return {}
    try:
        value = json.loads(result.text)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


_WORD: Final = compile_pattern(rf"{LETTER}[{IN_WORD}]{{3,}}")
_SEARCHES: Final = 3
_ALT_MAX: Final = 125


def propose_picture(post: Values, context: Values, tools: Toolbox) -> JsonObject:
    """Propose a featured image for the post."""
    chosen, summary = _picture(_subject(context, post), frozenset(), tools)
    patch: JsonObject = {"featuredMediaId": chosen} if chosen else {}
    return {"post": patch, "summary": summary}


def propose_picture_for_field(payload: Values, tools: Toolbox) -> JsonObject:
    """Propose an image for the field, other than the current one and earlier candidates."""
    context, current = section(payload, "context"), section(payload, "field").get("currentValue")
    earlier = context.get("previousCandidates")
    passed = {current} if isinstance(current, str) else set()
    for row in earlier if isinstance(earlier, Sequence) else ():
        value = row.get("value") if isinstance(row, Mapping) else None
        if isinstance(value, str):
            passed.add(value)
    subject = _subject(context, section(payload, "draftBase"))
    chosen, summary = _picture(subject, frozenset(passed), tools)
    return {"value": chosen or current, "summary": summary}


def _subject(context: Values, post: Values) -> str:
    return (
        clean(context.get("note"))
        or clean(context.get("openEndedContext"))
        or clean(post.get("title"))
    )


def _picture(subject: str, passed: frozenset[str], tools: Toolbox) -> tuple[str, str]:
    """Return the id of an image and a summary; an empty id if none was found."""
    # Search for the subject, then for its longest words one by one.
    words = sorted(dict.fromkeys(_WORD.findall(subject)), key=len, reverse=True)
    searches = [subject[:200]] if subject else []
    for query in searches + words[: _SEARCHES - 1]:
        items = call_tool(tools, "search_media", {"q": query}).get("items")
        for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
            if not isinstance(item, Mapping) or not str(item.get("mime", "")).startswith("image/"):
                continue
            id_ = item.get("id")
            if isinstance(id_, str) and id_ not in passed:
                name = clean(item.get("altText")) or clean(item.get("filename"))
                return id_, f"Found in the library: {shorten(name, 200)}. {NOTE}"
    alt_text = shorten(subject, _ALT_MAX) or "A picture"
    made = call_tool(
        tools, "generate_image", {"prompt": subject or "A picture", "altText": alt_text}
    )
    id_ = made.get("mediaId")
    if isinstance(id_, str):
        return id_, f"Made a placeholder picture, for nothing in the library fits. {NOTE}"
    return "", f"{LABEL} found no picture and could make none."


_TEXTS: Final = frozenset({"text", "textarea", ""})


def propose_field_value(payload: Values, tools: Toolbox) -> JsonObject:
    """Propose a value for the field, different from earlier candidates if possible."""
    field, context = section(payload, "field"), section(payload, "context")
    current, type_ = field.get("currentValue"), _type_of(payload)
    words = context.get("openEndedContext")
    if type_ == "media":
        return propose_picture_for_field(payload, tools)
    # Earlier candidates, the note on the last one, and values rejected here before.
    found = context.get("previousCandidates")
    rows = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
    candidates = [row for row in rows if isinstance(row, Mapping)]
    note = context.get("note") or (candidates[-1].get("note") if candidates else None)
    earlier = [row.get("value") for row in candidates]
    rejected = context.get("rejectedBefore")
    for row in rejected if isinstance(rejected, list) else ():
        if isinstance(row, Mapping) and "value" in row:
            earlier.append(row["value"])
    wish = wish_of(note) or wish_of(words)
    if is_document(current) or type_ in _TEXTS:
        for value in _candidates(payload, current):
            wanted = apply_wish(wish, value) if wish else value
            if wanted not in earlier:
                is_misunderstood = wish is None and (words or note)
                summary = f"{UNDERSTOOD} {NOTE}" if is_misunderstood else NOTE
                return {"value": wanted, "summary": summary}
        return {"value": current, "summary": f"{LABEL} has no other candidate. {NOTE}"}
    return {
        "value": current,
        "summary": f"{LABEL} has no rule for a field of type {type_} and left it as it is.",
    }


def _candidates(payload: Values, current: Json) -> list[Json]:
    """Return the possible values, best first."""
    if is_document(current) and isinstance(current, Mapping):
        tidied = with_texts(current, tidy_inside)
        blocks = current.get("content")
        if isinstance(blocks, Sequence) and not isinstance(blocks, str) and len(blocks) > 1:
            return [tidied, {**current, "content": list(blocks[: len(blocks) * 2 // 3 or 1])}]
        return [tidied]
    base = section(payload, "draftBase")
    title, excerpt = clean(base.get("title")), clean(base.get("excerpt"))
    key = str(section(payload, "field").get("key"))
    if key == "post.metaTitle":
        first = shorten(title, 60)
    elif key in ("post.metaDescription", "post.excerpt"):
        first = shorten(excerpt or clean(current) or title, 155)
    else:
        first = tidy(current) if isinstance(current, str) and current.strip() else title
    longer = f"{title}: {SENTENCE.split(excerpt)[0]}" if title and excerpt else title
    others = [shorter(first), SENTENCE.split(first)[0], longer, title, shorter(shorter(first))]
    return [first, *(text for text in others if text)]


def _type_of(payload: Values) -> str:
    """Return the type of the field; empty if unknown."""
    key = str(section(payload, "field").get("key"))
    kind, _, rest = key.partition(".")
    if kind == "post":
        declared = POST_FIELDS.get(rest)
        if declared is None:
            return ""
        return "slug" if declared.format == "slug" else declared.field_type
    here = section(section(payload, "module"), "schema")
    for part in rest.split(".")[1:]:
        items = section(here, "items") or here
        here = items if part.isdigit() else section(section(items, "properties"), part)
    type_ = here.get("field")
    return type_ if isinstance(type_, str) else ""


_LENGTHS: Final = {"metaTitle": (10, 60), "metaDescription": (50, 160), "excerpt": (40, 300)}
"""Minimum and maximum characters of a good text."""
_LEAST_LINE: Final = 10
_ABOUT: Final = {"en": "Questions about {}", "de": "Fragen zu: {}"}


def propose_search_texts(post: Values, modules: Sequence[Values]) -> JsonObject:
    """Improve missing, too long or too short search texts, the hero's subtitle and the FAQ's heading."""
    title, excerpt = clean(post.get("title")), clean(post.get("excerpt"))
    body = clean(" ".join(words_of(module) for module in modules)) or excerpt or title
    # Keep the current text if it is good; never replace it with the first lines of the body.
    others = {
        "metaTitle": _search_title(title, modules),
        "metaDescription": excerpt if _fits("metaDescription", excerpt) else shorten(body, 155),
        "excerpt": shorten(" ".join(SENTENCE.split(body)[:2]), 240),
    }
    patch: JsonObject = {}
    for name, other in others.items():
        present = clean(post.get(name))
        value = present
        if name == "metaTitle" and value.casefold() == title.casefold():
            value = ""  # repeating the title tells a search engine nothing
        # Take the other text if there is none, or if only that has a good length. Otherwise shorten
        # a long text.
        if not value or (_fits(name, other) and not _fits(name, value)):
            value = other
        elif not _fits(name, value):
            value = shorten(value, _LENGTHS[name][1])
        if value and value != present:
            patch[name] = value
    edits: list[Json] = []
    names = [POST_FIELDS[name].label.lower() for name in patch]
    for module in modules:
        values = _module_values(module, post, modules)
        if values:
            edits.append(edit_of(module, values))
            names.append(_module_name(str(module["type"])))
    what = f"Changed {', '.join(names)}." if names else "Found nothing to change."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _module_name(type_name: str) -> str:
    """Return the name of a module in a sentence, such as "the hero"."""
    found = module_types.get(type_name)
    return f"the {(found.label if found else type_name).lower()}"


def _fits(name: str, value: str) -> bool:
    least, most = _LENGTHS[name]
    return least <= len(value) <= most


def _search_title(title: str, modules: Sequence[Values]) -> str:
    """Return the title with the first topic of the text that fits."""
    most = _LENGTHS["metaTitle"][1]
    texts = [value for module in modules for value in section(module, "props").values()]
    nodes = [node for value in texts if isinstance(value, Mapping) for node in children(value)]
    for node in nodes:
        topic = clean(to_text(node)) if kind(node) == "heading" else ""
        longer = f"{title}: {topic}"
        if topic and len(longer) <= most and topic.casefold() not in title.casefold():
            return longer
    return shorten(title, most)


def _module_values(module: Values, post: Values, modules: Sequence[Values]) -> JsonObject:
    """Return a one-line subtitle for a hero, and a heading with the topic for an FAQ."""
    props = values_of(module)
    title = clean(post.get("title"))
    if module.get("type") == "hero":
        subtitle = clean(props.get("subtitle"))
        text = subtitle or clean(" ".join(map(words_of, modules))) or clean(post.get("excerpt"))
        first = shorten(SENTENCE.split(text or title)[0], 160)
        return {"subtitle": first} if first != subtitle and len(first) >= _LEAST_LINE else {}
    if module.get("type") == "faq":
        heading = clean(props.get("heading"))
        if not heading:
            return {
                "heading": shorten(_ABOUT.get(str(post.get("locale")), "{}").format(title), 160)
            }
        extended_heading = f"{heading}: {title}"
        if title.casefold() not in heading.casefold() and len(extended_heading) <= 160:
            return {"heading": extended_heading}
    return {}


_TEXT_FIELDS: Final = tuple(
    name for name, field in POST_FIELDS.items() if field.is_text and field.translatable
)
_NAMES: Final = {
    "metaTitle": re.compile(r"\b(meta|search) title\b", re.I),
    "metaDescription": re.compile(r"\bdescription\b", re.I),
    "excerpt": re.compile(r"\b(excerpt|introduction|intro|teaser|lead)\b", re.I),
    "title": re.compile(r"(?<!meta )(?<!search )\b(title|headline)\b", re.I),
}
"""Patterns for the names of post fields in instructions."""
_READABLE: Final = frozenset({"text", "textarea", "richtext"})


def propose_cleanup(post: Values, modules: Sequence[Values], context: Values) -> JsonObject:
    """Carry out the editor's instruction if the rules know it; otherwise remove superfluous blanks."""
    words = context.get("openEndedContext")
    wish = wish_of(words)
    patch: JsonObject = {}
    if wish is not None:
        named = [name for name, pattern in _NAMES.items() if pattern.search(str(words))]
        everywhere = not named and wish.kind != "shorten"
        for name in named or (_TEXT_FIELDS if everywhere else ("excerpt",)):
            value = post.get(name)
            changed = apply_wish(wish, value) if isinstance(value, str) else value
            if changed != value:
                patch[name] = changed
        edits = _edits(modules, partial(apply_wish, wish)) if everywhere else []
        found = len(patch) + len(edits)
        what = f"Did “{wish.kind}” in {found} places." if found else "Nothing was left to change."
        return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}
    for name in _TEXT_FIELDS:
        value = post.get(name)
        if isinstance(value, str) and tidy(value) != value:
            patch[name] = tidy(value)

    def tidied(value: Json) -> Json:
        if isinstance(value, str):
            return tidy(value)
        return with_texts(value, tidy_inside) if is_document(value) else value

    edits = _edits(modules, tidied)
    found = len(patch) + len(edits)
    what = f"Tidied blanks in {found} places." if found else "Found nothing to tidy."
    hint = f" {UNDERSTOOD}" if words else ""
    return {"post": patch, "modules": edits, "summary": f"{what}{hint} {NOTE}"}


def _edits(modules: Sequence[Values], change: Callable[[Json], Json]) -> list[Json]:
    """Return an edit for each module whose readable texts change."""
    edits: list[Json] = []
    for module in modules:
        schema, changed = schema_of(module), {}
        for name, value in values_of(module).items():
            if section(schema, name).get("field") in _READABLE and change(value) != value:
                changed[name] = change(value)
        if changed:
            edits.append(edit_of(module, changed))
    return edits
