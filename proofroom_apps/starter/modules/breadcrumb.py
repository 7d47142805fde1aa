from __future__ import annotations

from proofroom.definitions import AIGuidance, Module


class Breadcrumb(Module):
    name = "breadcrumb"
    label = "Breadcrumb"
    description = "The path from the home page to this page."
    icon = "compass"
    allowed_scopes = ("static",)
    shows_breadcrumb = True
    ai = AIGuidance(
        layout_roles=("navigation",),
        use_when=("the breadcrumb should be somewhere other than above the page",),
        avoid_when=("above the first module: the page shows it there automatically",),
        composition_notes="At most once on a page. It has no props; the page then shows no other one.",
    )
