"""What fresh processes measured becomes figures with intervals, and claims that held or did not."""
