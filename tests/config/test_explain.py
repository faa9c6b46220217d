from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hydra.errors import HydraException

from hydra_eval.config.explain import explain, unknown_key

from ..toys import write_yaml
from .conftest import Compose


@pytest.fixture
def said(tmp_path: Path, composing: Compose) -> Callable[..., str]:
    """What a user is shown for overrides that Hydra refuses."""
    write_yaml(tmp_path / "mine" / "t.yaml", {"task": "t", "dataset_path": "json", "test_split": "test"})

    def refused(*overrides: str) -> str:
        with pytest.raises(HydraException) as caught:
            composing("task=t", *overrides)
        return explain(caught.value)

    return refused


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limitt=3", "The config has no key 'limitt'. Did you mean 'limit'? Known: allow_code_execution, check, "),
        (
            "model.pretraind=x",
            "The config has no key 'model.pretraind'. Did you mean 'pretrained'? Known below model: ",
        ),
        ("fewshot.k=3", "The config has no key 'fewshot.k'. Known below fewshot: "),
        ("tasks.t.num_fewshots=3", "The config has no key 'tasks.t.num_fewshots'. Did you mean 'num_fewshot'? Known"),
        ("tasks.u.num_fewshot=3", "tasks.u.num_fewshot: the run has no task with the key 'u'; task=… chooses"),
        ("model=llama4", "model=llama4: there is no such option. Did you mean 'llama3'? Known: dummy, gemma3, "),
        ("filters=stripp", "filters=stripp: there is no such option. Did you mean 'strip'? Known: "),
        ("task=u", "task=u: unknown task 'u'. Known: "),
        ("seed=abc", "Error merging override seed=abc: Value 'abc' of type 'str' could not be converted to Integer"),
    ],
)
def test_what_hydra_refuses_in_our_words(said: Callable[..., str], override: str, message: str) -> None:
    assert said(override).startswith(message)


@pytest.mark.parametrize(
    ("path", "known"),
    [("model.kwargs.x", True), ("filters.x.y", True), ("seed", True), ("model.dtyp", False), ("nothing.at.all", False)],
)
def test_the_schema_tells_which_keys_there_are(path: str, known: bool) -> None:
    assert (unknown_key(path) is None) is known


@pytest.mark.parametrize(("path", "near"), [("fewshoot_strategy", "'fewshot_strategy'"), ("tsk", "'task'")])
def test_a_misspelt_group_is_met_with_the_groups_name(path: str, near: str) -> None:
    assert f"Did you mean {near}?" in (unknown_key(path) or "")


def test_what_is_wrong_below_hydra_is_left_to_hydra() -> None:
    assert unknown_key("hydra.runn.dir") is None
