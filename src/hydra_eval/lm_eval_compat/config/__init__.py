"""Stands for `lm_eval.config`."""
