"""Results as text that fits a terminal of 80 columns."""
