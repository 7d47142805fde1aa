"""The types of reactions that call another system, one per file. Apps add theirs in `<app>/reaction_types/`."""
