"""What the optimum costs: lower bounds, formulations, exact search, certificates and their checker."""
