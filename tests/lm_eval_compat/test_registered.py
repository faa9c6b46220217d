from __future__ import annotations

from pathlib import Path

import pytest

from ..without_lm_eval import output_of

UTILS = """
from lm_eval.api.registry import register_aggregation, register_filter, register_metric
from lm_eval.api.filter import Filter

@register_filter("shouted")
class Shouted(Filter):
    def __init__(self, mark="!"):
        self.mark = mark

    def apply(self, resps, docs):
        return [[reply.upper() + self.mark for reply in replies] for replies in resps]

@register_aggregation("largest")
def largest(values):
    return max(values)

@register_metric(metric="length", higher_is_better=False, aggregation="largest")
def length(items):
    return items

def f(doc):
    return doc
"""
LOAD = """
from pathlib import Path
from hydra_eval.config.functions import function_reference, resolve_function
from hydra_eval.filters.build import build_pipelines
from hydra_eval.lm_eval_compat import registered
resolve_function(function_reference(Path("."), "utils.f"), where="t")
"""


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.parity)], ids=["hidden", "installed"])
def hidden(request: pytest.FixtureRequest) -> bool:
    """With the stand-in, and with lm-eval itself."""
    if not request.param:
        pytest.importorskip("lm_eval.api.registry", reason="needs lm-evaluation-harness (extra: parity)")
    return bool(request.param)


def test_a_registered_filter_is_found_by_its_name(tmp_path: Path, hidden: bool) -> None:
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    steps = "[{'function': 'shouted', 'mark': '?'}, 'take_first']"
    code = (
        LOAD + f"(chain,) = build_pipelines({{'loud': {steps}}}, where='t')\nprint(chain([['a'], ['b']], [{{}}] * 2))"
    )
    assert output_of(code, cwd=tmp_path, hidden=hidden).endswith("['A?', 'B?']\n")


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("aggregation", "largest", "largest"),
        ("metric", "length", "length"),
        ("metric_aggregation", "length", "largest"),
        ("filter", "shouted", "Shouted"),
    ],
)
def test_whatever_is_registered_is_found(tmp_path: Path, hidden: bool, kind: str, name: str, found: str) -> None:
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    code = LOAD + f"print(registered({kind!r}, {name!r}).__name__, registered({kind!r}, 'other'))"
    assert output_of(code, cwd=tmp_path, hidden=hidden).endswith(f"{found} None\n")


def test_nothing_is_registered_where_nobody_asked_for_lm_eval(tmp_path: Path) -> None:
    code = "from hydra_eval.lm_eval_compat import registered; print(registered('filter', 'shouted'))"
    assert output_of(code, cwd=tmp_path) == "None\n"


def test_one_name_for_two_things_is_refused(tmp_path: Path, hidden: bool) -> None:
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    (tmp_path / "others.py").write_text(UTILS, encoding="utf-8")
    code = LOAD + (
        "from hydra_eval.errors import UserError\n"
        "try:\n    resolve_function(function_reference(Path('.'), 'others.f'), where='t')\n"
        "except UserError as error:\n    print(error)"
    )
    assert "'shouted' already registered" in output_of(code, cwd=tmp_path, hidden=hidden).replace(
        "is already", "already"
    )
