"""An OpenID provider in a process of its own, which sign-in is tested against: allauth's."""
