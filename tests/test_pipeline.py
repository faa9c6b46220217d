from __future__ import annotations

from dataclasses import replace

import pytest

from hydra_eval.errors import UserError
from hydra_eval.pipeline import prepare
from hydra_eval.style import Style

from .toys import COLOURS, docs_of, toy_task


def test_text_that_no_tokenizer_takes_is_told_with_its_document() -> None:
    docs = docs_of([COLOURS[0], {**COLOURS[1], "thing": "half \ud800"}])
    with pytest.raises(UserError, match=r"'\\ud800', half a character.*document 1"):
        prepare([replace(toy_task(), docs=docs, all_docs=docs)], Style(), batch_tokens=64)
