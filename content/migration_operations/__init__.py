"""Operations for migrations of a site: they carry stored content over when the definition of a module changes."""

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
