"""Work that users start and workers execute."""
