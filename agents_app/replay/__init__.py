"""Past runs that people decided on, asked again of the present prompt and model. Stages nothing."""
