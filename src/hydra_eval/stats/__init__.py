"""From per-document values to numbers with an error."""
