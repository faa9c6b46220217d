from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra.core.object_type import ObjectType
from hydra.errors import ConfigCompositionException
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from hydra_eval.config.compose import typed
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig, task_config, task_key
from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.config.task_source import TaskSource
from hydra_eval.errors import UserError

from ..toys import write_yaml
from .conftest import Compose

PROMPTS = {
    "interpolation": "cost: ${price}",
    "nested": "${a.${b}}",
    "escaped": r"\${price}",
    "two backslashes before": r"\\${price}",
    "three backslashes before": r"\\\${price}",
    "backslashes elsewhere": r"C:\dir\n \\ and ${x} then \\",
    "backslash at the end": "${x}\\",
    "latex": r"\frac{1}{2} costs $3 \$4 $${5}",
    "resolver": "${oc.env:HOME}",
    "open": "an open ${",
    "jinja": "{{question}} {% if x %}${y}{% endif %}\n",
    "gap within text": "what ??? now",
    "quotes": "it's \"${x}\" ' \\' \"",
    "unicode": "naïve ${ключ} 日本\u2028",
}


def write_tasks(folder: Path, *names: str, **content: Any) -> None:
    for name in names:
        write_yaml(folder / f"{name}.yaml", {"task": name, "dataset_path": "json", "test_split": "test", **content})


def source_over(*folders: Path) -> TaskSource:
    return TaskSource("test", "tasks://" + ":".join(map(str, folders)))


def content_of(folder: Path, name: str) -> Any:
    """The task as the program sees it: composed onto the schema, typed, checked."""
    composed = OmegaConf.merge(OmegaConf.structured(RunConfig), source_over(folder).load_config(f"task/{name}").config)
    return task_config(typed(composed).tasks[task_key(name)])  # type: ignore[arg-type]


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
def test_prompts_survive_composition_byte_for_byte(tmp_path: Path, composing: Compose, prompt: str) -> None:
    samples = {"samples": [{"question": prompt}]}
    write_tasks(tmp_path / "mine", "t", doc_to_text=prompt, description=prompt, fewshot_config=samples)
    task = task_config(typed(composing("task=t", "tracker=none")).tasks["t"])
    assert (task.doc_to_text, task.description, task.fewshot_config) == (prompt, prompt, samples)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    prompt=st.text(alphabet=st.sampled_from("${}\\'\"?!:|[]a \n\t{%#"), min_size=1, max_size=12)
    | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
)
def test_any_prompt_survives(tmp_path_factory: pytest.TempPathFactory, prompt: str) -> None:
    if prompt.startswith("!function ") or prompt == "???":
        return
    folder = tmp_path_factory.mktemp("tasks")
    write_tasks(folder, "t", doc_to_text=prompt, doc_to_choice=[prompt, {"nested": prompt}])
    task = content_of(folder, "t")
    assert (task.doc_to_text, task.doc_to_choice) == (prompt, [prompt, {"nested": prompt}])


@pytest.mark.parametrize("place", ["doc_to_text", "doc_to_choice"])
def test_three_question_marks_alone_are_refused_by_name(tmp_path: Path, place: str) -> None:
    write_tasks(tmp_path, "t", **{place: "???" if place == "doc_to_text" else ["a", "???"]})
    with pytest.raises(ConfigCompositionException, match=rf"^tasks\.t\.{place}: the text '\?\?\?' cannot stand"):
        source_over(tmp_path).load_config("task/t")


def test_a_date_stays_the_text_that_it_was(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("task: t\nmetadata: {version: 2024-05-01}\n", encoding="utf-8")
    assert content_of(tmp_path, "t").metadata == {"version": "2024-05-01"}


def test_numbers_keep_their_types(tmp_path: Path) -> None:
    kwargs = {"temperature": 0, "top_p": 0.95, "do_sample": False, "until": []}
    write_tasks(tmp_path, "t", generation_kwargs=kwargs, doc_to_target=1)
    task = content_of(tmp_path, "t")
    assert repr(task.generation_kwargs) == repr(kwargs)
    assert task.doc_to_target == 1


def test_one_task_fills_every_key(tmp_path: Path) -> None:
    write_tasks(tmp_path, "t", description=None, num_fewshot=3)
    task = options_for("t", task_index((tmp_path,)))["tasks"]["t"]
    assert set(task) == set(TaskConfig.__dataclass_fields__)
    assert (task["description"], task["num_fewshot"], task["target_delimiter"]) == ("", 3, " ")
    assert task["file"] == str(tmp_path / "t.yaml")


def test_a_list_of_specs_composes_to_all_of_them(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "one", "two", "a.b")
    config = typed(composing("task=[one|5,'two@k=4',one|0,one|5,a.b]"))
    assert list(config.tasks) == ["one", "two", "a_b"]
    assert list(config.selection.values()) == [
        {"name": "one", "tasks": {"one": "one"}, "shots": 5, "parameters": {}},
        {"name": "two", "tasks": {"two": "two"}, "shots": None, "parameters": {"k": 4}},
        {"name": "one", "tasks": {"one": "one"}, "shots": 0, "parameters": {}},
        {"name": "a.b", "tasks": {"a_b": "a.b"}, "shots": None, "parameters": {}},
    ]


def test_one_field_of_one_task_is_overridden_by_its_key(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "a.b", "two", num_fewshot=1)
    config = typed(composing("task=[a.b,two]", "tasks.a_b.num_fewshot=4", "tasks.two.generation_kwargs={until: [x]}"))
    assert (config.tasks["a_b"]["num_fewshot"], config.tasks["two"]["num_fewshot"]) == (4, 1)
    assert config.tasks["two"]["generation_kwargs"] == {"until": ["x"]}


def test_the_command_line_wins_over_the_task_file_but_groups_keep_other_fields(
    tmp_path: Path, composing: Compose
) -> None:
    write_tasks(tmp_path / "mine", "t", num_fewshot=2)
    config = typed(composing("task=t", "fewshot_strategy=random", "fewshot.n=7", "filters=strip"))
    assert (config.fewshot.strategy, config.fewshot.n) == ("random", 7)
    assert list(config.filters) == ["strip"]
    assert config.tasks["t"]["num_fewshot"] == 2


def test_an_unknown_name_names_the_three_nearest(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "gsm8k_a", "gsm8k_b", "gsm8k_cot", "unlike")
    with pytest.raises(ConfigCompositionException, match=r"unknown task 'gsm9k_a'. Did you mean '\w+' or '\w+' or '"):
        composing("task=gsm9k_a")


def test_a_name_unlike_any_lists_what_is_known(tmp_path: Path) -> None:
    write_tasks(tmp_path, "one", "two")
    with pytest.raises(
        UserError, match=r"task=zzzz: unknown task 'zzzz'. Known: one, two\. Tasks of your own: hydra.searchpath="
    ):
        options_for("zzzz", task_index((tmp_path,)))


def test_a_users_task_replaces_the_one_on_the_shelf(tmp_path: Path) -> None:
    write_tasks(tmp_path / "mine", "t", description="mine")
    write_tasks(tmp_path / "shelf", "t", description="theirs")
    found = source_over(tmp_path / "mine", tmp_path / "shelf").load_config("task/t").config
    assert found.tasks.t.description == "mine"


@pytest.mark.parametrize(
    ("path", "wanted", "listed"),
    [
        ("", None, ["task"]),
        ("", ObjectType.GROUP, ["task"]),
        ("", ObjectType.CONFIG, []),
        ("task", None, ["one", "two"]),
        ("task", ObjectType.CONFIG, ["one", "two"]),
        ("task/", ObjectType.CONFIG, ["one", "two"]),
        ("task", ObjectType.GROUP, []),
        ("model", None, []),
    ],
)
def test_listing_for_help_and_completion(
    tmp_path: Path, path: str, wanted: ObjectType | None, listed: list[str]
) -> None:
    write_tasks(tmp_path, "two", "one")
    assert source_over(tmp_path).list(path, wanted) == listed


def test_a_source_over_a_folder_that_is_not_there_is_not_available(tmp_path: Path) -> None:
    assert source_over(tmp_path).available()
    assert not source_over(tmp_path, tmp_path / "none").available()


@pytest.mark.parametrize(
    ("override", "specs"),
    [
        ("task='name(x)'", ["name(x)"]),
        ("task=['name(x)|2','a.b@k=[1,2]@m=\"it\"|0']", ["name(x)|2", 'a.b@k=[1,2]@m="it"|0']),
        ("task=[na*,tag:both|1]", ["na*", "tag:both|1"]),
        ("task='[an]*'", ["[an]*"]),
        ("task=lighteval|a.b|3|0", ["lighteval|a.b|3|0"]),
        ("task=[p,p:*]", ["p", "p:*"]),
        ("task='{folder}/with space/(o).yaml|1'", ["{folder}/with space/(o).yaml|1"]),
    ],
)
def test_every_form_comes_through_hydra_as_typed(
    tmp_path: Path, composing: Compose, override: str, specs: list[str]
) -> None:
    write_tasks(tmp_path / "mine" / "with (odd) name", "name(x)", "a.b", "p:one", tag="both")
    write_tasks(tmp_path / "with space", "(o)")
    config = typed(composing(override.replace("{folder}", str(tmp_path))))
    assert list(config.selection) == [spec.replace("{folder}", str(tmp_path)) for spec in specs]
    assert all(task_config(content) for content in config.tasks.values())


def test_names_with_brackets_and_dots_have_keys_that_can_be_typed(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "name(x)", "a.b", "other")
    config = typed(composing("task=['name(x)',a.b,other]", "tasks.name_x_.description=mine", "tasks.a_b.repeats=2"))
    assert [(task["task"], task["description"], task["repeats"]) for task in config.tasks.values()] == [
        ("name(x)", "mine", 1),
        ("a.b", "", 2),
        ("other", "", 1),
    ]


def test_a_changed_member_of_a_group_is_overridden_by_its_own_key(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "t", num_fewshot=1)
    write_yaml(tmp_path / "mine" / "g.yaml", {"group": "g", "task": [{"task": "t", "num_fewshot": 5}]})
    config = typed(composing("task=[g,t]", "tasks.g__t.repeats=3"))
    assert {key: (task["num_fewshot"], task["repeats"]) for key, task in config.tasks.items()} == {
        "g__t": (5, 3),
        "t": (1, 1),
    }


def test_a_replayed_config_gives_the_same_tasks_groups_and_selection(tmp_path: Path, composing: Compose) -> None:
    write_tasks(tmp_path / "mine", "a:x", "a:y", "t", doc_to_text="${x} {{q}}", doc_to_choice=["${y}"])
    write_yaml(
        tmp_path / "mine" / "g.yaml", {"group": "g", "task": [{"task": "t", "num_fewshot": 5, "task_alias": "T"}]}
    )
    cfg = composing("task=[\"a@k=4@s='z'|2\",g,lighteval|t|3]", "tasks.t.description=d", "tracker=none")
    OmegaConf.save(cfg, tmp_path / "config.yaml")
    assert typed(OmegaConf.load(tmp_path / "config.yaml")) == typed(cfg)  # type: ignore[arg-type]
