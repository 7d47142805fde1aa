"""How far runs are, told to the pages that show them while they go on."""
