"""Weights of Hugging Face models: quantised, sliced, under adapters, compiled. One file per option."""

from __future__ import annotations

from hydra_eval.models.loading.weights import cpu_threads, load_weights

__all__ = ["cpu_threads", "load_weights"]
