"""allauth's OpenID provider in a separate process, to test sign-in."""
