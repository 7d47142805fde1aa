"""The agents there are, and trying one out."""
