"""The history of editorial briefs: listed, compared and restored."""
