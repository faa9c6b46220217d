from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from hydra_eval.config.compose import register, typed
from hydra_eval.config.schema import RunConfig
from hydra_eval.errors import UserError

from ..toys import write_yaml
from .conftest import Compose


@pytest.fixture
def cfg(tmp_path: Path, composing: Compose) -> Compose:
    """Composing with one small task chosen."""
    write_yaml(tmp_path / "mine" / "t.yaml", {"task": "t", "dataset_path": "json", "test_split": "test"})
    return lambda *overrides: composing("task=t", *overrides)


@pytest.mark.parametrize("path", ["prompt.template_args", "model.kwargs", "generation.extra"])
def test_a_mapping_that_is_handed_on_takes_any_key(cfg: Compose, path: str) -> None:
    section, _, name = path.partition(".")
    assert getattr(getattr(typed(cfg(f"{path}.mine=3")), section), name) == {"mine": 3}


def test_the_composed_config_becomes_typed_objects(cfg: Compose) -> None:
    config = typed(cfg("model=dummy", "limit=3", "tracker=none", "fewshot.n=2", "filters=none", "metrics=exact_match"))
    assert isinstance(config, RunConfig)
    assert (config.model.kind, config.limit, config.tracker.kind, config.fewshot.n) == ("dummy", 3, "none", 2)
    assert config.metrics == {"exact_match": {"ignore_case": True, "ignore_punctuation": True}}
    assert type(config.metrics["exact_match"]) is dict


def test_the_defaults(cfg: Compose) -> None:
    config = typed(cfg())
    assert (config.seed, config.fewshot.strategy, config.fewshot.n, config.filters, config.metrics, config.resume) == (
        1234,
        "task",
        None,
        {},
        {},
        "auto",
    )


@pytest.mark.parametrize("name", ["llama3", "llama3_instruct", "qwen3", "smollm2", "gemma3", "tiny", "hf", "dummy"])
def test_every_model_option_composes(cfg: Compose, name: str) -> None:
    assert typed(cfg(f"model={name}")).model.kind == ("dummy" if name == "dummy" else "hf")


@pytest.mark.parametrize("name", ["task", "first_n", "random"])
def test_every_fewshot_option_is_typed_without_a_package(cfg: Compose, name: str) -> None:
    config = typed(cfg(f"fewshot_strategy={name}", "fewshot.n=5"))
    assert (config.fewshot.strategy, config.fewshot.n) == (name, 5)


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("filters", ["task", "none", "strip", "last_number"]),
        ("metrics", ["task", "accuracy", "exact_match", "perplexity"]),
        ("tracker", ["none", "wandb"]),
    ],
)
def test_every_option_of_a_group_composes(cfg: Compose, group: str, names: list[str]) -> None:
    for name in names:
        assert typed(cfg(f"{group}={name}"))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("+limitt=3", r"no key 'limitt'. Did you mean 'limit'\? Known: allow_code_execution, check, data, dry_run"),
        ("+model.pretraind=x", r"no key 'model.pretraind'. Did you mean 'pretrained'\? Known below model: "),
        ("+fewshot.nn=2", r"no key 'fewshot.nn'. .*Known below fewshot: .*on_pinned, .*seed, .*strategy"),
        ("+generation.temprature=0.5", r"no key 'generation.temprature'. Did you mean 'temperature'\?"),
        ("+tracker.projekt=x", r"no key 'tracker.projekt'. Did you mean 'project'\?"),
        ("+data.rot=x", r"no key 'data.rot'. Did you mean 'root'\? Known below data: .*root"),
    ],
)
def test_an_unknown_key_behind_a_plus_is_refused(cfg: Compose, override: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        typed(cfg(override))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.kwargs.low_cpu", 1),
        ("generation.extra.num_beams", 2),
        ("prompt.template_args.thinking", False),
        ("prompt.template_args.tools.first", 1),
        ("filters.own", []),
        ("metrics.exact_match.ignore_case", True),
    ],
)
@pytest.mark.parametrize("sign", ["", "+", "++"])
def test_free_sections_take_any_key(cfg: Compose, key: str, value: Any, sign: str) -> None:
    found: Any = asdict(typed(cfg(f"{sign}{key}={json.dumps(value)}")))
    for part in key.split("."):
        found = found[part]
    assert found == value


def test_a_free_section_stays_one_under_an_option_of_its_group(cfg: Compose) -> None:
    config = typed(cfg("metrics=exact_match", "metrics.bleu={}", "model=llama3", "model.kwargs.low_cpu=1"))
    assert list(config.metrics) == ["exact_match", "bleu"] and config.model.kwargs["low_cpu"] == 1


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limitt=3", "limitt"),
        ("seed=abc", "seed"),
        ("model.batch_size=many", "batch_size"),
        ("fewshot.seed=1.5", "seed"),
        ("generation.do_sample=perhaps", "do_sample"),
        ("tracker.tags=one", "tags"),
    ],
)
def test_a_misspelt_key_or_a_wrong_type_is_hydras_error(cfg: Compose, override: str, message: str) -> None:
    with pytest.raises(HydraException, match=message):
        cfg(override)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limit=1.5", "limit=1.5: must be a whole number of documents from 1"),
        ("fewshot.n=[0,0]", r"fewshot.n=\[0, 0\]: must be a list of different whole numbers from 0 on"),
        ("generation.stop=[a,'']", r"generation.stop=\['a', ''\]: an empty string"),
    ],
)
def test_values_out_of_range_are_said_with_key_and_value(cfg: Compose, override: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        typed(cfg(override))


def test_an_interpolation_that_leads_nowhere_is_a_user_error(cfg: Compose) -> None:
    with pytest.raises(UserError, match="nowhere"):
        typed(cfg("model.pretrained=${nowhere}"))


def test_registering_twice_changes_nothing(cfg: Compose) -> None:
    register()
    assert typed(cfg()).selection == {"t": {"name": "t", "tasks": {"t": "t"}, "shots": None, "parameters": {}}}


def test_the_data_root_comes_from_the_environment(cfg: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_EVAL_DATA_ROOT", "/data")
    assert typed(cfg()).data.root == "/data"
    assert typed(cfg("data.root=/other")).data.root == "/other"


def test_a_saved_config_is_the_same_run(cfg: Compose, tmp_path: Path) -> None:
    composed = cfg("model=dummy", "limit=3", r"prompt.system='as it is: \${x}'")
    OmegaConf.save(composed, tmp_path / "config.yaml")
    saved = OmegaConf.load(tmp_path / "config.yaml")
    assert isinstance(saved, DictConfig)
    assert typed(saved) == typed(composed)


def test_a_reference_to_nothing_is_named_with_its_key(cfg: Compose) -> None:
    with pytest.raises(UserError, match=r"^prompt.system: Interpolation key 'b' not found\.$"):
        typed(cfg("prompt.system='${b}'"))


@pytest.mark.parametrize("override", ["~tasks.t", "tasks.t=3", "+tasks.other.task=x"])
def test_a_command_line_changes_fields_of_tasks_and_not_which_there_are(cfg: Compose, override: str) -> None:
    with pytest.raises(UserError, match=r"tasks\.(t|other): task=… chooses"):
        typed(cfg(override))
