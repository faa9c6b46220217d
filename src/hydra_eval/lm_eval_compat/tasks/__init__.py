"""Stands for `lm_eval.tasks`: its modules are the Python files of the task folders."""
