"""The comparison of a translation with its source by figures, structure and links."""
