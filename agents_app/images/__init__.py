"""Pictures that the media provider makes: asked for, paid for, stored, proposed for a place."""
