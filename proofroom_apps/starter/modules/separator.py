from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions import AIGuidance, Module, ModuleProps, Select
from proofroom.definitions.markdown_values import Media, written


class Separator(Module):
    name = "separator"
    label = "Separator"
    description = "Separates two parts of a page: a line, an ornament, or space."
    icon = "leaf"
    stylesheet = "cms/modules/separator.css"
    ai = AIGuidance(
        layout_roles=("divider",),
        use_when=("the subject changes without a heading",),
        avoid_when=("the next module has a heading: that separates enough",),
        composition_notes="Rarely more than two on a page, never first or last.",
    )

    class Props(ModuleProps):
        look: Literal["line", "space", "ornament"] = Select(default="line")
        size: Literal["medium", "small", "large"] = Select(default="medium")

    @classmethod
    def as_markdown(
        cls, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
    ) -> str:
        return "" if props.get("look") == "space" else written([{"type": "horizontalRule"}])
