"""Sample rows of the two commonest kinds of task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hydra_eval.records import SampleRow


def generation_row(doc_id: int, **changes: Any) -> SampleRow:
    row = SampleRow(
        task="capitals",
        doc_id=doc_id,
        filter="none",
        doc={"question": f"Capital {doc_id}?"},
        target="Paris",
        arguments=((f"Q: Capital {doc_id}?\nA:", {"until": ["\n"], "max_gen_toks": 8}),),
        resps=((" Paris",),),
        filtered_resps=("Paris",),
        scores={"exact_match": 1.0},
        shots=(3, 1),
        shots_requested=3,
        shots_used=2,
        input_tokens=(12,),
        output_tokens=(2,),
        cut_tokens=(0,),
        finish_reasons=("stop",),
    )
    return replace(row, **changes)


def choice_row(doc_id: int, **changes: Any) -> SampleRow:
    row = SampleRow(
        task="colours",
        doc_id=doc_id,
        filter="none",
        doc={"question": f"Colour {doc_id}?", "choices": ["red", "blue", "green"]},
        target=2,
        arguments=tuple((f"Colour {doc_id}?", f" {choice}") for choice in ("red", "blue", "green")),
        resps=(((-1.5, False),), ((-2.25, False),), ((-0.5, True),)),
        filtered_resps=((-1.5, False), (-2.25, False), (-0.5, True)),
        scores={"acc": 1.0, "acc_norm": 0.0},
        input_tokens=(4, 4, 4),
        output_tokens=(1, 1, 1),
        cut_tokens=(0, 0, 0),
        finish_reasons=(None, None, None),
    )
    return replace(row, **changes)
