"""`check.numerics`: a sample of a run's requests again, one by one and in float32, and what that changes."""
