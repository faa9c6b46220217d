"""Stands for `lm_eval.api`."""
