"""What task code imports from `lm_eval`, for the case that lm-eval itself is not installed; and lm-eval's registries.

`finder` serves this package under the name `lm_eval`, and only where no real one is found. Each file stands for the
file of the same name in lm-eval 0.4.13 and holds what task code imports from it.
"""

from __future__ import annotations

import sys
from typing import Any

TABLES = {
    "filter": "FILTER_REGISTRY",
    "metric": "METRIC_REGISTRY",
    "aggregation": "AGGREGATION_REGISTRY",
    "higher_is_better": "HIGHER_IS_BETTER_REGISTRY",
    "metric_aggregation": "METRIC_AGGREGATION_REGISTRY",
}
"""Kind of thing → its registry in `lm_eval.api.registry`."""


def registered(kind: str, name: str) -> Any | None:
    """What task code registered with lm-eval's decorators (or lm-eval itself, where installed); None if nothing.

    Imports nothing: where nobody imported lm-eval yet, nobody registered anything.
    """
    registry = sys.modules.get("lm_eval.api.registry")
    table = getattr(registry, TABLES[kind], {})
    return table.get(name, None)
