"""What modules show that belongs to apps above content: each app registers how its things are loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from proofroom.core.hooks import ExtensionPoint
from proofroom.definitions import FieldType

Load = Callable[[Collection[str], str], Mapping[str, object]]
"""From what the fields of modules name, and the locale of the page, to what their templates show. One query."""


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """Templates find what was loaded under `name`, by what the fields of the type `field` hold."""

    name: str
    field: FieldType
    load: Load


module_sources: ExtensionPoint[ModuleSource] = ExtensionPoint()
"""Each is asked once a page, and only where a field of its type names something."""
