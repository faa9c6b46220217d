from __future__ import annotations

import json
from pathlib import Path

import pytest

from hydra_eval.errors import UserError
from hydra_eval.tables.load import table_config, table_entries

from .files import entry, stand_in, write_table

GENERATIVE = entry(
    "say",
    "say",
    "Metrics.exact_match, Metrics.maj_at_n(sample_params={'n': 4})",
    "generation_size=8, stop_sequence=['\\n'], hf_revision='abc', few_shots_split='train', version=2,",
)


def test_an_entry_in_lm_evals_keys(tmp_path: Path) -> None:
    path = write_table(tmp_path, GENERATIVE)
    content = table_entries(str(path))["say"]
    expected = {
        "task": "say",
        "table": str(path),
        "file": str(path),
        "dataset_path": "org/set",
        "dataset_name": "default",
        "dataset_kwargs": {"revision": "abc"},
        "test_split": ["test"],
        "fewshot_split": "train",
        "num_fewshot": None,
        "output_type": "generate_until",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8},
        "repeats": 4,
        "metadata": {"version": 2},
    }
    assert {key: content[key] for key in expected} == expected
    assert json.loads(json.dumps(content)) == content


@pytest.mark.parametrize(
    ("metrics", "output_type"),
    [
        ("Metrics.loglikelihood_acc", "multiple_choice"),
        ("Metrics.word_perplexity", "loglikelihood_rolling"),
        ("Metrics.loglikelihood_acc, Metrics.exact_match", "generate_until"),
        ("'exact_match'", "generate_until"),
    ],
    ids=["choices", "perplexity", "mixed", "by name"],
)
def test_the_output_type_follows_from_the_metrics(tmp_path: Path, metrics: str, output_type: str) -> None:
    assert table_entries(str(write_table(tmp_path, entry(metrics=metrics))))["pick"]["output_type"] == output_type


def test_a_module_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path).rename(tmp_path / "my_tables_of_tasks.py")
    monkeypatch.syspath_prepend(tmp_path)
    content = table_entries("my_tables_of_tasks")["pick"]
    assert (content["table"], content["file"]) == ("my_tables_of_tasks", str(tmp_path / "my_tables_of_tasks.py"))


@stand_in
def test_spellings_of_older_files_are_taken(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(rest="suite=['community'], trust_dataset=True,").replace("metrics=", "metric="))
    assert table_entries(str(path))["pick"]["output_type"] == "multiple_choice"


def test_entries_stay_as_their_file_wrote_them(tmp_path: Path) -> None:
    path = write_table(tmp_path, GENERATIVE)
    before = repr(table_config(str(path), "say"))
    table_entries(str(path))
    assert repr(table_config(str(path), "say")) == before


@pytest.mark.parametrize(
    ("body", "entries", "message"),
    [
        ("import no_such_library", (), r"table\.py: cannot import .*No module named 'no_such_library'"),
        ("1 / 0", (), r"cannot import .*ZeroDivisionError: division by zero"),
        (
            "",
            (entry(metrics="'exact_mach'"),),
            r"task 'pick': unknown metric 'exact_mach'\. Did you mean 'exact_match'",
        ),
        ("", (entry(), entry()), r"has two tasks named 'pick'"),
        ("", ("42",), r"entry 0 of TASKS_TABLE is no LightevalTaskConfig: it has no 'name'"),
    ],
    ids=["library", "raises", "metric by name", "twice", "stranger"],
)
def test_what_is_wrong_in_a_file(tmp_path: Path, body: str, entries: tuple[str, ...], message: str) -> None:
    path = write_table(tmp_path, *entries, body=body + "\n")
    with pytest.raises(UserError, match=message):
        table_entries(str(path))


@stand_in
@pytest.mark.parametrize(
    ("body", "metrics", "message"),
    [
        ("from lighteval.tasks.requests import Dock", "", r"no 'Dock'.* Did you mean 'Doc'\?.*pip install lighteval"),
        ("import lighteval.pipelines", "", r"no stand-in for 'lighteval.pipelines'"),
        ("", "Metrics.exact_mach", r"no metric 'exact_mach'\. Did you mean 'exact_match'"),
        ("", "Metrics.exact_match(sample_params={'strip': 1})", r"ExactMatches has no parameter 'strip'"),
    ],
    ids=["name", "module", "metric", "parameter"],
)
def test_what_the_stand_in_does_not_have(tmp_path: Path, body: str, metrics: str, message: str) -> None:
    path = write_table(tmp_path, entry(metrics=metrics), body=body + "\n")
    with pytest.raises(UserError, match=message):
        table_entries(str(path))


def test_a_table_without_entries(tmp_path: Path) -> None:
    (tmp_path / "table.py").write_text("TASKS_TABLE = []\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"table\.py: TASKS_TABLE is empty; give it a LightevalTaskConfig"):
        table_entries(str(tmp_path / "table.py"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        table_entries(str(tmp_path / "table.py"))


def test_an_unknown_entry(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown task 'pik'\. Did you mean 'pick'"):
        table_config(str(write_table(tmp_path)), "pik")
