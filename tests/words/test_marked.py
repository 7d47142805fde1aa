"""Every sentence of the admin goes through gettext: none is a plain literal on a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from proofroom.core.i18n.model_names import own_apps

SHOWN: frozenset[str] = frozenset(
    {
        *("title", "subtitle", "label", "help_text", "description", "short_description"),
        *("verbose_name", "search_help_text", "empty_value_display"),
    }
)
"""Arguments and attributes whose text users read."""
MESSAGES = frozenset({"debug", "info", "success", "warning", "error"})
SAME_IN_EVERY_LANGUAGE = frozenset({"AI Review", "Review", "Source", "SEO", "URL", "Proofroom"})
TEMPLATE_TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", re.S)


def files() -> list[Path]:
    admin = [file for app in own_apps() for file in Path(app.path).glob("admin/**/*.py")]
    home = Path(settings.BASE_DIR) / "cms_project"
    return [
        *sorted(admin),
        *(home / f"{name}.py" for name in ("overview", "site", "system_health")),
    ]


def plain(node: ast.expr | None) -> str:
    """Return the untranslated words of a text; empty if there are none."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        text = "".join(str(part) for part in parts)
    else:
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    is_word = re.search(r"[a-z]{2}", text) is not None and text not in SAME_IN_EVERY_LANGUAGE
    return text if is_word else ""


def shown(tree: ast.AST) -> Iterator[ast.expr]:
    """Return expressions shown on pages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg in SHOWN)
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in MESSAGES and isinstance(owner, ast.Name) and owner.id == "messages":
                yield node.args[1]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if any(name in SHOWN for name in names):
                yield node.value


def test_what_pages_show_is_marked_for_translation() -> None:
    found = [
        f"{file.relative_to(settings.BASE_DIR)}:{node.lineno}: {plain(node)}"
        for file in files()
        for node in shown(ast.parse(file.read_text()))
        if plain(node)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('messages.success(request, "It is saved.")', ["It is saved."]),
        ('messages.error(request, f"{name} is gone.")', [" is gone."]),
        ('form_page(request, title="Posts")', ["Posts"]),
        ('class A:\n    title = "state"', ["state"]),
        ('messages.success(request, _("It is saved."))', []),
        ("form_page(request, title=post.title)", []),
        ('logger.error("It is not read.")', []),
    ],
)
def test_the_search_for_unmarked_words_finds_them(code: str, words: list[str]) -> None:
    assert [text for node in shown(ast.parse(code)) if (text := plain(node))] == words


def test_admin_templates_contain_no_untranslated_text() -> None:
    block = re.compile(
        r"{%\s*blocktranslate.*?endblocktranslate\s*%}|{%\s*comment.*?endcomment\s*%}", re.S
    )
    skipped = re.compile(r"<(code|kbd|pre|script|style|svg)\b.*?</\1>", re.S)
    found = []
    for file in sorted(Path("templates/admin").rglob("*.html")):
        text = TEMPLATE_TAG.sub(" ", skipped.sub(" ", block.sub(" ", file.read_text())))
        words = re.findall(r"[A-Za-z][a-z]{2,}(?: [a-z]{2,})+", text)
        if words:
            found.append(f"{file}: {words}")

    assert found == []
