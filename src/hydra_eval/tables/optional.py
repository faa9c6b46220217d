"""Libraries that single metrics need, and a clear word where one is missing."""

from __future__ import annotations

import importlib
from typing import Any

from hydra_eval.errors import UserError

PACKAGES = {
    "rouge_score": "rouge-score",
    "math_verify": "math-verify[antlr4_9_3]",
}
"""Import name → what pip calls it, where they differ. The config library holds antlr at 4.9."""


def needed(module: str) -> Any:
    """The module, imported. Raises UserError naming what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UserError(
            f"a metric needs the library '{library}', which cannot be imported ({error}): "
            f"pip install '{PACKAGES.get(library, library)}'."
        ) from error
