"""A site whose package has the name of one of the product's gets an error message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cms_project.own_packages import OWN_PACKAGES, ROOT


def start(first: Path, statement: str) -> subprocess.CompletedProcess[str]:
    """Start Django with a folder before the product's in the import path."""
    program = f"import sys; sys.path[:0] = [{str(first)!r}, {str(ROOT)!r}]; {statement}"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=first
    )


@pytest.mark.parametrize("name", OWN_PACKAGES)
def test_a_package_that_hides_one_of_the_product_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()

    ended = start(tmp_path, "import cms_project.settings")

    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1] == (
        "django.core.exceptions.ImproperlyConfigured: "
        f"The package {name!r} at {tmp_path / name} hides the product's own at {ROOT / name}. "
        "Give it another name."
    )


def test_the_list_names_every_package_of_the_product() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}

    assert found - {"benchmarks", "cms_project", "tests"} == set(OWN_PACKAGES)
