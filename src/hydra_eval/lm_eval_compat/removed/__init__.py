"""Stands for `transformers.data.metrics`, which transformers 5 no longer has and task code still imports."""
