"""Performance tables, printed as ratios measured in one run."""
