"""The field types, post types and recipes in docs/ match the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from content.checks import check_definitions
from content.post_checks.registry import list_checks
from proofroom.core.json import Json
from proofroom.definitions import PostType, fields, validate_props
from tests import make
from tests.content.checking import failures, results, set_levels
from tests.content.customer_app import customer_app
from tests.deployment.written import recipe_pages

DOCS = Path("docs")
FIELDS = (DOCS / "reference/fields.md").read_text(encoding="utf-8")
POST_TYPE = (DOCS / "how-to/add-a-post-type.md").read_text(encoding="utf-8")
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in recipe_pages())
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


@pytest.mark.django_db
def test_the_check_of_the_recipe_is_found_and_judges_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / "how-to/add-a-check.md").read_text(encoding="utf-8")
    [(name, code)] = re.findall(
        r"(?m)^`shop/(post_checks/[^`\n]+\.py)`[^\n]*\n\n```python\n((?:.*\n)*?)```$", text
    )
    page, post = make.post("Page", type="page"), make.post("Post")

    with customer_app(tmp_path, monkeypatch, "shop_with_checks", {name: code}):
        assert failures(page, "callToAction") == ["No link leads to the contact page."]
        assert results(post, "callToAction") == []
        make.added_module(page, type="prose", content_markdown="[write](/contact)")
        assert failures(page, "callToAction") == []
        set_levels(monkeypatch, {"callToAction": "block"}, "page")
        assert check_definitions() == []
    assert results(page, "callToAction") == []


def test_each_check_is_in_its_table() -> None:
    table = (DOCS / "reference/checks.md").read_text(encoding="utf-8").partition("\n## ")[0]

    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == [check.name for check in list_checks()]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_field_type_is_there_with_its_arguments(name: str) -> None:
    [row] = re.findall(rf"(?m)^\| `{name}` \| .*$", FIELDS)

    arguments = set(inspect.signature(FUNCTIONS[name]).parameters) - COMMON
    assert {one for one in arguments if f"`{one}=" not in row} == set()


def test_each_attribute_of_a_post_type_is_there() -> None:
    section = POST_TYPE.partition("\n## ")[0]
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
