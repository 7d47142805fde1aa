"""No circular imports, so that each file can be read, moved and deleted separately."""

from __future__ import annotations

import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from django.conf import settings


def test_no_file_imports_itself_by_way_of_others() -> None:
    project = tomllib.loads(Path(settings.BASE_DIR, "pyproject.toml").read_text())
    packages = project["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail("These files import each other: " + " <- ".join(error.args[1]))
