"""What breaks a policy: instance families and the search for bad instances."""
