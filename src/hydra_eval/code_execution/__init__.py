"""Runs programs that a model wrote, each in a process of its own with limits, and counts which of them pass.

It limits time, memory and what is written, and refuses network, child processes and signals to others (by the kernel on
Linux, by Python alone elsewhere). Files that the user can read or write are not protected: run it in a container.
"""

from __future__ import annotations

from hydra_eval.code_execution.programs import Outcome, pass_at_k, passes, run_program

__all__ = ["Outcome", "pass_at_k", "passes", "run_program"]
