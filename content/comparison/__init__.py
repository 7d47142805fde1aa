"""The comparison of two documents, and the assessment of their differences for reviewers."""
