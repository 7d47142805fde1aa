"""What a deployment is made of, and a whole one of its own."""
