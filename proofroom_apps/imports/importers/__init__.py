"""One import source per file. `proofroom_apps.imports.registry` finds them here and in any installed app."""
