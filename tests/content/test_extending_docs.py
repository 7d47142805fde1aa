"""The field types and post types in docs/extending.md match the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from content.checks import check_definitions
from proofroom.core.json import Json
from proofroom.definitions import PostType, fields, validate_props
from tests.content.customer_app import customer_app

TEXT = Path("docs/extending.md").read_text(encoding="utf-8")
FIELDS = TEXT.partition("### Field types")[2].partition("\n### ")[0]
COMMON = {"label", "help", "translatable", "of"}
FUNCTIONS = {
    name: found
    for name, found in vars(fields).items()
    if inspect.isfunction(found) and found.__module__ == fields.__name__ and name[0].isupper()
}
DEFINITIONS = (
    r"(?m)^`shop/((?:modules|post_types|module_groups|taxonomies)/[^`\n]+\.py)`[^\n]*\n\n"
    r"```python\n((?:.*\n)*?)```$"
)
TEMPLATES = r"(?m)^`shop/templates/(modules/[^`\n]+)`[^\n]*\n\n```html\n((?:.*\n)*?)```$"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_field_type_is_there_with_its_arguments(name: str) -> None:
    [row] = re.findall(rf"(?m)^\| `{name}` \| .*$", FIELDS)

    arguments = set(inspect.signature(FUNCTIONS[name]).parameters) - COMMON
    assert {one for one in arguments if f"`{one}=" not in row} == set()


def test_each_attribute_of_a_post_type_is_there() -> None:
    _, _, section = TEXT.partition("## A post type")
    section = section.partition("\n## ")[0]
    declared = {name for name in vars(PostType)["__annotations__"] if not name.startswith("_")}

    assert {name for name in declared if f"`{name}`" not in section} == set()


def test_the_definitions_of_the_recipes_are_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict(re.findall(DEFINITIONS, TEXT))
    templates = {f"templates/{name}": text for name, text in re.findall(TEMPLATES, TEXT)}
    assert {"modules/menu_card.py", "modules/price_tag.py", "post_types/product.py"} <= files.keys()
    packages = {"taxonomies/__init__.py": ""}

    with customer_app(
        tmp_path, monkeypatch, "shop_of_the_docs", {**packages, **files, **templates}
    ):
        assert check_definitions() == []
        dishes: list[Json] = [{"name": "Soup", "price": 4.5}, {"name": "Bread"}]
        props = validate_props("menu-card", {"courses": [{"title": "First", "dishes": dishes}]})
        page = get_template("modules/menu-card.html").render({"props": props})
        assert "<li>Soup 4.50</li><li>Bread</li>" in page
