"""Tasks of the shelf with generated answers: each builds, and equals lm-eval's of the same name but where its README
says otherwise."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_index import task_index
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.templates import text_field

from ..toys import built
from .compare import FACETS, SHELF, Case, Pair, Row, built_pair, original, read_task_yaml, write_splits
from .rows_generation import DATA

FAMILIES = ("gsm8k", "svamp", "hendrycks_math", "bbh", "drop", "triviaqa", "nq_open", "squadv2", "humaneval", "mbpp")
FAMILIES += ("ifeval",)
KINDS = ("boolean_expressions", "causal_judgement", "dyck_languages", "formal_fallacies", "object_counting")
KINDS += ("penguins_in_a_table", "snarks", "sports_understanding", "web_of_lies", "word_sorting")
"""Subsets of BIG-Bench Hard: one at least for each way of finding an answer."""


def files_of(family: str) -> dict[str, Any]:
    entries = task_index((SHELF / family,)).entries.values()
    return {entry.name: entry.path for entry in entries if entry.kind != "group"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_task_builds_and_words_its_prompts(family, tmp_path) -> None:
    files = files_of(family)
    for file in files.values():
        config = read_task_yaml(file)
        write_splits(tmp_path, file, DATA[config["dataset_path"]](config.get("dataset_name")))
    tasks = built(SHELF / family, *files, data=DataConfig(root=str(tmp_path)), allow_code_execution=True)
    assert [task.name for task in tasks] == list(files)
    asked = prepare(tasks, Style(), batch_tokens=8192).requests_of
    assert len(asked) == sum(len(task.docs) for task in tasks) and all(asked.values())


# Against lm-eval.

ZERO = ("requests, 0 shots", "hydra_eval's requests, 0 shots")
ALL = tuple(FACETS)
ALL_BUT_SETTINGS = tuple(facet for facet in FACETS if facet != "settings")
WITHOUT_EXAMPLES = ("documents", "golds", *ZERO, "hydra_eval's scores")
"""For tasks whose examples differ on purpose."""


def number_replies(doc: Row) -> list[str]:
    number = str(doc["answer"]).split("#### ")[-1]
    return [
        f" So. The answer is {number}.",
        f"#### {number}",
        f"{number} or 12.5",
        f"The answer is ${number}",
        "none",
        "",
    ]


def maths_replies(doc: Row) -> list[str]:
    right = doc["answer"]
    return [right, f"It is ${right}$.", f"so $x$ = ${right}$", r"$\frac12$", "0.5", f"k={right}", "$5", ""]


def bbh_replies(doc: Row) -> list[str]:
    right = doc["target"]
    reasoned = f"It is not {right}, or so. The answer is {right}."
    worded = [
        "She tells the truth.",
        "not plausible",
        "Yes. No: yes",
        "the answer is 42!",
        "-",
        "kettle plum word3 plum",
    ]
    choices = ["Answer: B", "that is a HERON, test 0.0", "(A) no, (B)", "> ) ]"]
    return [f" {right}", f"{right}.", reasoned, right.upper(), *worded, *choices, ""]


def span_replies(doc: Row) -> list[str]:
    first, *others = doc["answers"]
    return [first[0], f"The {first[-1]}!", "1,001", "lamp 4", " 4 May  1999", *(answer[0] for answer in others), ""]


def alias_replies(doc: Row) -> list[str]:
    answers = doc["answer"]["aliases"] if isinstance(doc["answer"], dict) else doc["answer"]
    return [f" {answers[0]} ", answers[-1].upper(), f"The {answers[0]}", "an alias", "a lamp", ""]


def code_replies(doc: Row) -> list[str]:
    right = doc["canonical_solution"] if "canonical_solution" in doc else doc["code"]
    return [right, "    return 0\n", "pass", right.replace("return", "returns")]


def case(ours: str, theirs: str | None = None, replies: Any = None) -> Case:
    config = read_task_yaml(SHELF / ours)
    rows = DATA[config["dataset_path"]]
    return Case(ours=ours, theirs=theirs or ours, rows=lambda: rows(config.get("dataset_name")), replies=replies)


def mbpp_case() -> Case:
    """lm-eval's three examples stand where ours come from, in the split `prompt`, among others."""

    def rows() -> dict[str, Any]:
        utils = importlib.import_module("lm_eval.tasks.mbpp.utils")
        made = DATA["google-research-datasets/mbpp"](None)
        row = made["prompt"][0]
        shown = [{key: sample.get(key, value) for key, value in row.items()} for sample in utils.list_fewshot_samples()]
        return {**made, "prompt": [row, *shown, made["prompt"][-1]]}

    return Case(ours="mbpp/mbpp.yaml", theirs="mbpp/mbpp.yaml", rows=rows, replies=code_replies)


def bbh_case(way: str, subset: str) -> Case:
    return case(f"bbh/bbh_{way}_{subset}.yaml", f"bbh/{way}/{subset}.yaml", bbh_replies)


CASES: dict[str, tuple[Case, Sequence[str]]] = {
    "gsm8k_cot": (case("gsm8k/gsm8k_cot.yaml", "gsm8k/gsm8k-cot.yaml", number_replies), WITHOUT_EXAMPLES),
    "gsm8k_cot_zeroshot": (case("gsm8k/gsm8k_cot_zeroshot.yaml", "gsm8k/gsm8k-cot-zeroshot.yaml", number_replies), ALL),
    "gsm8k_cot_self_consistency": (
        case("gsm8k/gsm8k_cot_self_consistency.yaml", "gsm8k/gsm8k-cot-self-consistency.yaml", number_replies),
        WITHOUT_EXAMPLES,
    ),
    "hendrycks_math_algebra": (case("hendrycks_math/hendrycks_math_algebra.yaml", replies=maths_replies), ALL),
    "hendrycks_math500": (case("hendrycks_math/hendrycks_math500.yaml", replies=maths_replies), ALL),
    "minerva_math_precalc": (
        case("hendrycks_math/minerva_math_precalc.yaml", "minerva_math/minerva_math_precalc.yaml"),
        ("documents", "golds", *ZERO),
    ),
    **{f"bbh_zeroshot_{subset}": (bbh_case("zeroshot", subset), ALL_BUT_SETTINGS) for subset in KINDS},
    **{f"bbh_cot_zeroshot_{subset}": (bbh_case("cot_zeroshot", subset), ALL_BUT_SETTINGS) for subset in KINDS},
    "bbh_fewshot_snarks": (bbh_case("fewshot", "snarks"), WITHOUT_EXAMPLES),
    "bbh_cot_fewshot_snarks": (bbh_case("cot_fewshot", "snarks"), WITHOUT_EXAMPLES),
    "drop": (case("drop/drop.yaml", "drop/default.yaml", span_replies), ("documents", *ZERO, "hydra_eval's scores")),
    "triviaqa": (case("triviaqa/triviaqa.yaml", "triviaqa/default.yaml", alias_replies), ALL),
    "nq_open": (case("nq_open/nq_open.yaml", replies=alias_replies), ALL_BUT_SETTINGS),
    "humaneval": (case("humaneval/humaneval.yaml", replies=code_replies), ALL_BUT_SETTINGS),
    "mbpp": (mbpp_case(), ALL_BUT_SETTINGS),
}
"""Task → (files, what must be equal). Other wording of the same settings is left to the scores."""


@pytest.fixture(scope="module")
def lm_eval() -> Iterator[None]:
    """Stand-ins for what lm-eval's task code imports and is not here: none of it takes part in what is compared."""
    pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    import evaluate

    version = importlib.metadata.version
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "load", lambda name: SimpleNamespace(compute=share_that_runs))
        patch.setattr(
            importlib.metadata, "version", lambda name: "4.11" if name.startswith("antlr4") else version(name)
        )
        import_minerva()
        yield


def import_minerva() -> None:
    """As lm-eval's own loader would, beside a math_verify that is there for its names alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "math_verify", SimpleNamespace(parse=None, verify=None))
        module = importlib.import_module("lm_eval.tasks.minerva_math.utils")
        module.__mtime__ = Path(str(module.__file__)).stat().st_mtime_ns


def share_that_runs(references: Sequence[str], predictions: Sequence[Sequence[str]], k: Sequence[int]) -> Any:
    """In this process: the programs of these tests are harmless."""
    ran = [
        runs(f"{program}\n{tests}")
        for programs, tests in zip(predictions, references, strict=True)
        for program in programs
    ]
    return {f"pass@{k[0]}": sum(ran) / len(ran)}, None


def runs(program: str) -> bool:
    try:
        exec(program, {})
    except Exception:  # noqa: BLE001 (whatever a program raises)
        return False
    return True


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, lm_eval: None, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    wanted, _ = CASES[request.param]
    return built_pair(wanted, tmp_path_factory.mktemp("pair"))


@pytest.mark.parity
@pytest.mark.parametrize(
    ("pair", "facet"),
    [(name, facet) for name, (_, facets) in CASES.items() for facet in facets],
    indirect=["pair"],
    scope="module",
)
def test_equals_lm_eval(pair, facet) -> None:
    ours, theirs = FACETS[facet](pair)
    assert ours == theirs


@pytest.mark.parity
@pytest.mark.parametrize("way", ["zeroshot", "fewshot", "cot_zeroshot", "cot_fewshot"])
def test_every_subset_of_bbh_is_worded_as_in_lm_eval(way, lm_eval) -> None:
    keys = ("task", "dataset_path", "dataset_name", "description", "doc_to_target", "generation_kwargs", "metric_list")
    row = {"input": "Is it?", "target": "(A)"}

    def worded(file: Path) -> dict[str, Any]:
        config = read_task_yaml(file)
        prompt = text_field(config["doc_to_text"], columns=(), has_choices=False, where=str(file))(row)
        target = text_field(config["doc_to_target"], columns=(), has_choices=False, where=str(file))(row)
        for metric in config["metric_list"]:
            metric.get("regexes_to_ignore", []).sort()  # single characters: their order changes nothing
        return {key: config.get(key) for key in keys} | {"doc_to_text": prompt, "doc_to_target": target}

    theirs = [worded(file) for file in sorted(original(f"bbh/{way}").glob("[!_]*.yaml"))]
    assert len(theirs) == 27
    assert [worded(SHELF / f"bbh/{config['task']}.yaml") for config in theirs] == theirs
