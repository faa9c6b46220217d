"""What the program costs, measured. Nothing here is a test; figures are ratios between runs on one machine."""
