"""Rows become results: per task, per group, over seeds and orders; and how people and files show them."""
