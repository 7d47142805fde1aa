"""What people set of agents for all of them."""
