"""Multiple choice, likelihood and multilingual tasks of the shelf against lm-eval's of the same names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from .compare import FACETS, SHELF, Case, Pair, Row, built_pair, read_task_yaml
from .rows_choice import DATA

pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = pytest.mark.parity


def case(ours: str, theirs: str | None = None, **options: Any) -> Case:
    config = read_task_yaml(SHELF / ours)
    rows = DATA[config["dataset_path"]]
    return Case(ours=ours, theirs=theirs or ours, rows=lambda: rows(config.get("dataset_name")), **options)


def glue(name: str) -> Case:
    return case(f"glue/{name}.yaml", f"glue/{name}/default.yaml")


def super_glue(name: str, theirs: str | None = None) -> Case:
    return case(f"super_glue/{name}.yaml", f"super_glue/{theirs or name}/default.yaml")


def mgsm(form: str, language: str) -> Case:
    name = f"mgsm_{form}_{language}.yaml"
    return case(f"mgsm/{name}", f"mgsm/{form}/{name}", replies=number_replies)


def number_replies(doc: Row) -> list[str]:
    number = doc["answer_number"]
    return [f" {number}", f"2 + 2. Die Antwort lautet {number:,}.", "答えは7です。", f"{number} oder 12.5.", "none", ""]


def letter_replies(doc: Row) -> list[str]:
    right = doc["answer"]
    return [f" So the answer is ({right}).", f"the answer is {right}", "the answer is (A). No: (B)", f"({right})", ""]


def formula_replies(doc: Row) -> list[str]:
    right = doc["answer"]
    return [
        rf" \boxed{{{right}}}",
        f"$x = {right}$",
        f"= {right}.",
        r"\dfrac{2}{7} or 5/7",
        "",
        right.replace("/", " / "),
    ]


CASES = {
    "hellaswag": case("hellaswag/hellaswag.yaml"),
    "arc_easy": case("arc/arc_easy.yaml"),
    "piqa": case("piqa/piqa.yaml"),
    "openbookqa": case("openbookqa/openbookqa.yaml"),
    "commonsense_qa": case("commonsense_qa/commonsense_qa.yaml", "commonsense_qa/default.yaml"),
    "social_iqa": case("social_iqa/social_iqa.yaml", "siqa/siqa.yaml"),
    "sciq": case("sciq/sciq.yaml"),
    "mmlu_anatomy": case("mmlu/mmlu_anatomy.yaml", "mmlu/default/mmlu_anatomy.yaml"),
    "mmlu_us_foreign_policy": case("mmlu/mmlu_us_foreign_policy.yaml", "mmlu/default/mmlu_us_foreign_policy.yaml"),
    "mmlu_pro_law": case("mmlu_pro/mmlu_pro_law.yaml", replies=letter_replies),
    "mmlu_pro_computer_science": case("mmlu_pro/mmlu_pro_computer_science.yaml", replies=letter_replies),
    "truthfulqa_mc1": case("truthfulqa/truthfulqa_mc1.yaml"),
    "truthfulqa_mc2": case("truthfulqa/truthfulqa_mc2.yaml"),
    "race": case("race/race.yaml"),
    "logiqa": case("logiqa/logiqa.yaml"),
    "agieval_aqua_rat": case("agieval/agieval_aqua_rat.yaml", "agieval/aqua-rat.yaml", most_shots=0),
    "agieval_math": case("agieval/agieval_math.yaml", "agieval/math.yaml", replies=formula_replies),
    **{name: glue(name) for name in ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "wnli")},
    "mnli_mismatch": case("glue/mnli_mismatch.yaml", "glue/mnli/mismatch.yaml"),
    "boolq": case("boolq/boolq.yaml", "super_glue/boolq/default.yaml"),
    **{name: super_glue(name) for name in ("cb", "copa", "multirc", "record", "wic", "wsc")},
    "sglue_rte": super_glue("sglue_rte", "rte"),
    "lambada_openai": case("lambada/lambada_openai.yaml"),
    "lambada_standard": case("lambada/lambada_standard.yaml"),
    "wikitext": case("wikitext/wikitext.yaml"),
    "blimp_wh_island": case("blimp/blimp_wh_island.yaml", "blimp/wh_island.yaml"),
    "xcopa_zh": case("xcopa/xcopa_zh.yaml", "xcopa/default_zh.yaml"),
    "winogrande": case("winogrande/winogrande.yaml", "winogrande/default.yaml"),
    "xwinograd_jp": case("xwinograd/xwinograd_jp.yaml"),
    "belebele_fra_Latn": case("belebele/belebele_fra_Latn.yaml"),
    "mgsm_direct_de": mgsm("direct", "de"),
    "mgsm_en_cot_zh": mgsm("en_cot", "zh"),
    "mgsm_native_cot_ja": mgsm("native_cot", "ja"),
}


@pytest.fixture(scope="module", autouse=True)
def squad_metrics() -> Iterator[None]:
    """What lm-eval's record imports and transformers 5 no longer has: two functions, true of the made-up names."""
    package, module = (ModuleType(f"transformers.data.{name}") for name in ("metrics", "metrics.squad_metrics"))
    module.compute_exact = lambda one, other: int(one.split() == other.split())
    module.compute_f1 = shared_words
    with pytest.MonkeyPatch.context() as patch:
        for stand_in in (package, module):
            patch.setitem(sys.modules, stand_in.__name__, stand_in)
        yield


def shared_words(one: str, other: str) -> float:
    words, others = (set(name.removeprefix("the ").split()) for name in (one, other))
    return 2 * len(words & others) / (len(words) + len(others))


@pytest.fixture(scope="module", params=list(CASES))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return built_pair(CASES[request.param], tmp_path_factory.mktemp("pair"))


@pytest.mark.parametrize("facet", list(FACETS))
def test_equals_lm_eval(pair: Pair, facet: str) -> None:
    ours, theirs = FACETS[facet](pair)
    assert ours == theirs
