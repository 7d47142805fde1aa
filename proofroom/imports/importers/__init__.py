"""One source of imports per file. `proofroom.imports.registry` finds them here and in any installed app."""
