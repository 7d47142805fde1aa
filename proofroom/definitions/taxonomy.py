"""Taxonomy definitions: one class per file in `<app>/taxonomies/`. Their terms are content."""

from __future__ import annotations

from typing import ClassVar

from proofroom.core.registry import Registry
from proofroom.definitions import validation


class Taxonomy:
    """A way to sort posts; `name` is its slug. `free_tagging`: authors make terms while writing."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str] = ""
    hierarchical: ClassVar[bool] = False
    free_tagging: ClassVar[bool] = False


taxonomies: Registry[Taxonomy] = Registry("taxonomies", Taxonomy)


def find_taxonomy(slug: str) -> type[Taxonomy]:
    """The definition, or `RuleViolation` with code `unknown_taxonomy`."""
    found = taxonomies.get(slug)
    if found is None:
        raise validation.unknown(
            "taxonomy", slug, taxonomies.names(), code="unknown_taxonomy", field="taxonomy"
        )
    return found
