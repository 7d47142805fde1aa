"""A project made from the built wheel, without the checkout, starts and passes its own tests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from tests.commands import run_command
from tests.deployment.conftest import registry_variables, uv
from tests.deployment.written import recipe_pages
from tests.ports import free_port

pytestmark = pytest.mark.deployment
_STARTS_WITHIN = 180.0


@dataclass(frozen=True)
class Project:
    folder: Path
    variables: dict[str, str]

    def run(self, *words: str) -> str:
        """Return the output of a project's command, which must succeed."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}"
        return done.stdout


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Run `proofroom new shop` with only the wheel and its dependencies installed."""
    home = tmp_path_factory.mktemp("own-project")
    subprocess.run(
        [uv(), "venv", "--quiet", "--python", sys.executable, str(home / "tool")], check=True
    )
    subprocess.run(
        [uv(), "pip", "install", "--quiet", "--python", str(home / "tool/bin/python"), str(wheel)],
        check=True,
        timeout=600,
    )
    variables = {
        **registry_variables(),
        "PATH": f"{Path(uv()).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    made = Project(home, variables)
    assert "./run" in made.run("tool/bin/proofroom", "new", "shop")
    return Project(home / "shop", variables)


def test_a_new_project_passes_its_own_tests(project: Project) -> None:
    assert re.search(r"\d+ passed", project.run("./run", "test"))


def test_a_new_project_installs_what_its_lock_file_names(project: Project, wheel: Path) -> None:
    project.run("./run", "version")
    lock = (project.folder / "requirements.lock").read_text()
    assert [file.name for file in (project.folder / "wheels").glob("*.whl")] == [wheel.name]
    installed = project.run(uv(), "pip", "freeze", "--python", ".venv/bin/python").splitlines()
    locked = set(re.findall(r"(?m)^([a-z][\w.-]*)(?:\[[^\]]*\])?(==[\w.]+)", lock))
    found = {tuple(re.split("(?===)", line)) for line in installed if "==" in line}
    assert len(found & locked) > 90
    assert {name for name, _ in found - locked} <= {
        "proofroom",
        "pytest",
        "pytest-django",
        "iniconfig",
        "pluggy",
        "pygments",
    }


def test_the_lock_file_is_made_again_with_the_hash_of_the_product(
    project: Project, wheel: Path
) -> None:
    file = project.folder / "requirements.lock"
    before = file.read_text()
    project.run("./run", "lock")
    after = file.read_text()

    digest = sha256(wheel.read_bytes()).hexdigest()
    assert f"--hash=sha256:{digest}" in after
    assert "://" not in after
    pins = re.compile(r"(?m)^[a-z][\w.-]*(?:\[[^\]]*\])?==[^\s;]+")
    assert set(pins.findall(before)) <= set(pins.findall(after))
    project.run("./run", "version")


def test_a_new_project_is_found_right_by_the_checks(project: Project) -> None:
    assert "no issues" in project.run("./run", "check")
    assert "No changes detected" in project.run("./run", "makemigrations", "--check", "--dry-run")


def test_a_name_that_is_a_package_of_the_product_is_refused(project: Project) -> None:
    tool = str(project.folder.parent / "tool/bin/proofroom")
    done = run_command([tool, "new", "media"], cwd=project.folder.parent)

    assert done.returncode == 1
    assert "media" in done.stderr
    assert not (project.folder.parent / "media").exists()


@pytest.fixture
def address(project: Project, tmp_path: Path) -> Iterator[str]:
    """Yield the URL of the project, started by `./run`."""
    port, mcp_port = free_port(), free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            ["./run"],
            cwd=project.folder,
            env={**project.variables, "PORT": str(port), "MCP_PORT": str(mcp_port)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            until = time.monotonic() + _STARTS_WITHIN
            while "Ready" not in (said := (tmp_path / "log").read_text()):
                assert process.poll() is None, said
                assert time.monotonic() < until, said
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def test_a_new_project_starts_with_what_it_adds(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        home = client.get("/")
        assert home.status_code == 200
        (sheet,) = re.findall(r'href="([^"]*site/theme[^"]*\.css)"', home.text)
        assert "--accent" in client.get(sheet).text
        given = {"email": "admin@example.com", "password": "demo-password"}
        assert client.post("/api/auth/login", json=given).status_code == 200
        assert "opening-hours" in client.get("/api/modules/registry").text


_EXAMPLE = re.compile(r"(?m)^`(shop/[^`\n]+)`[^\n]*\n\n```\w+\n((?:.*\n)*?)```$")
RECIPES = dict(
    found for page in recipe_pages() for found in _EXAMPLE.findall(page.read_text(encoding="utf-8"))
)
"""The files of the recipes, by their paths in a project `shop`."""
CONTENT_MIGRATION = "shop/migrations/0002_price_tag_content.py"
EXTENSION_POINTS = (
    "modules", "templates", "post_types", "taxonomies", "module_groups", "roles", "api.py",
    "urls.py", "models.py", "admin.py", "apps.py", "agents", "tools.py", "ai_providers",
    "importers", "settings.py", "views.py", "static", "migrations", "reaction_types", "consumers.py", "routing.py",
    "word_tables", "post_checks",
)  # fmt: skip


@pytest.fixture(scope="module")
def extended(project: Project) -> Project:
    """Return the project with all recipes applied, and one more language."""
    for name, code in RECIPES.items():
        if name != CONTENT_MIGRATION:
            file = project.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code)
            if file.suffix == ".py":
                (file.parent / "__init__.py").touch()
    (project.folder / ".env").write_text('SHOP_PHONE="+33 1"\n')
    made = Project(
        project.folder,
        {**project.variables, "LOCALES": "en,de,fr", "AI_PROVIDER_ACME_API_KEY": "key"},
    )
    made.run("./run", "makemigrations", "shop")
    made.run("./run", "new_locale", "fr", "--folder", "shop")
    words = project.folder / "shop/locale/fr/LC_MESSAGES/django.po"
    text = words.read_text()
    translated = text.replace(
        'msgid "Page not found"\nmsgstr ""', 'msgid "Page not found"\nmsgstr "Page introuvable"'
    )
    assert translated != text
    words.write_text(translated)
    made.run("./run", "compilemessages", "--locale", "fr", "--ignore", ".venv")
    return made


def test_there_is_a_recipe_for_every_extension_point() -> None:
    assert {name.split("/")[1] for name in RECIPES} == set(EXTENSION_POINTS)


def test_every_recipe_works_in_a_new_project(extended: Project) -> None:
    checks = Path(__file__).with_name("recipe_checks.py").read_text()
    (extended.folder / "tests/test_recipes.py").write_text(checks)

    assert re.search(r"\d+ passed", extended.run("./run", "test", "tests/test_recipes.py"))
    assert "no issues" in extended.run("./run", "check")


MAKE_CONTENT = """
import json
from django.test import Client
from proofroom.accounts.models import User
from shop.models import StockItem
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.create_user("owner@shop.example", "long-enough-7", role="admin"))
module = {"type": "price-tag", "scope": "local", "props": {"product": "Bread", "price": 2.5}}
post = {"type": "product", "locale": "en", "title": "Bread", "slug": "bread", "status": "published",
        "customFields": {"sku": "B-1"}, "modules": [module]}
answer = client.post("/api/posts", json.dumps(post), content_type="application/json")
assert answer.status_code == 201, answer.content
StockItem.objects.create(sku="B-1", amount=3)
"""
READ_CONTENT = """
import json
from django.test import Client
from proofroom.accounts.models import User
from shop.models import StockItem
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(User.objects.get(email="owner@shop.example"))
[row] = client.get("/api/posts?type=product").json()["data"]
post = client.get("/api/posts/" + row["id"]).json()
page = client.get("/products/bread").content.decode()
print(json.dumps({"props": post["modules"][0]["props"], "customFields": post["customFields"],
                  "stock": list(StockItem.objects.values_list("sku", "amount", "place")),
                  "page": "2.50 EUR" in page}))
"""


def test_an_upgrade_carries_content_over_a_changed_model(extended: Project) -> None:
    # The database of an earlier version: one of its migrations is missing.
    extended.run("./run", "migrate")
    extended.run("./run", "migrate", "proofroom_core", "0001")
    extended.run("./run", "shell", "-c", MAKE_CONTENT)

    shop = extended.folder / "shop"
    module = shop / "modules/price_tag.py"
    module.write_text(
        module.read_text().replace(
            "        price: float = Number(minimum=0)\n",
            "        amount: float = Number(minimum=0)\n        currency: str = Text(max_length=3)\n",
        )
    )
    template = shop / "templates/modules/price-tag.html"
    template.write_text(
        template.read_text().replace(
            "props.price|floatformat:2 }}", "props.amount|floatformat:2 }} {{ props.currency }}"
        )
    )
    models = shop / "models.py"
    models.write_text(
        models.read_text().replace(
            "    amount =",
            '    place = models.CharField(max_length=40, default="cellar")\n    amount =',
        )
    )
    (extended.folder / CONTENT_MIGRATION).write_text(RECIPES[CONTENT_MIGRATION])
    extended.run("./run", "makemigrations", "shop")
    assert '"amount": 2.5' in extended.run("./run", "preview_content_migration", "shop", "0002")
    extended.run("./run", "migrate")

    assert "[ ]" not in extended.run("./run", "showmigrations")
    assert "No changes detected" in extended.run("./run", "makemigrations", "--check", "--dry-run")
    found = json.loads(extended.run("./run", "shell", "-c", READ_CONTENT).splitlines()[-1])
    assert found == {
        "props": {"product": "Bread", "amount": 2.5, "currency": "EUR"},
        "customFields": {"sku": "B-1"},
        "stock": [["B-1", 3, "cellar"]],
        "page": True,
    }
