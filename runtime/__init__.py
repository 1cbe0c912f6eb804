"""What runs: policies, the simulator, trace readers and the audit."""
