"""Migration operations that convert stored content when a module definition changes."""

from content.migration_operations.operation import ChangeCustomFields, ChangeModule
from content.migration_operations.steps import Convert, Drop, Rename, SetDefault, Split, Step

__all__ = [
    "ChangeCustomFields",
    "ChangeModule",
    "Convert",
    "Drop",
    "Rename",
    "SetDefault",
    "Split",
    "Step",
]
