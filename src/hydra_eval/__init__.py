"""Declarative evaluation of language models: Hydra composes it, Accelerate runs it, Weights & Biases shows it."""

__version__ = "0.1.0"
