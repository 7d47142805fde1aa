"""What differs between two documents, and what a difference means to a reviewer."""
