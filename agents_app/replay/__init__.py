"""Past runs with human decisions, asked again with the current prompt and model. Stages nothing."""
