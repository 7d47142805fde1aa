"""How content stands in an archive: posts with their layers and revisions, and what they are made of."""
