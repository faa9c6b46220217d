"""The verbs of `hydra-eval` that are not a run. None of them loads weights."""
