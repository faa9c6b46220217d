from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_config import OUTPUT_TYPES, fill_defaults, task_config, task_key
from hydra_eval.errors import UserError


def filled(**content: Any) -> dict[str, Any]:
    return fill_defaults({"task": "t", **content}, path=Path("t.yaml"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("output_type", "generate_until"),
        ("target_delimiter", " "),
        ("fewshot_delimiter", "\n\n"),
        ("description", ""),
        ("repeats", 1),
        ("num_fewshot", None),
        ("metadata", {}),
    ],
)
def test_defaults_are_lm_evals_and_stand_for_a_null_too(key: str, value: Any) -> None:
    assert getattr(task_config(filled()), key) == value
    assert getattr(task_config(filled(**{key: None})), key) == value


def test_two_tasks_do_not_share_a_default() -> None:
    filled()["metadata"]["version"] = 1
    assert filled()["metadata"] == {}


@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_every_output_type(output_type: str) -> None:
    assert task_config(filled(output_type=output_type)).output_type == output_type


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"doc_to_txt": "x"}, r"unknown key 'doc_to_txt'. Did you mean 'doc_to_text'\? Known: .*dataset_path.*"),
        (
            {"output_type": "multiple-choice"},
            r"output_type 'multiple-choice' is not known. Did you mean 'multiple_choice'\?",
        ),
        ({"doc_to_image": ["image"]}, "task 't': 'doc_to_image': images are not supported yet"),
        ({"doc_to_audio": "audio"}, "task 't': 'doc_to_audio': sounds are not supported yet"),
        ({"use_prompt": "promptsource:x"}, "task 't': 'use_prompt': promptsource prompts"),
        ({"num_fewshot": "five"}, "num_fewshot='five' must be a whole number from 0"),
        ({"num_fewshot": -1}, "num_fewshot=-1 must be a whole number from 0"),
        ({"num_fewshot": True}, "num_fewshot=True must be a whole number"),
        ({"repeats": 0}, "repeats=0 must be a whole number from 1"),
        ({"repeats": 1.5}, "repeats=1.5 must be a whole number from 1"),
        ({"fewshot_split": ["a", "b"]}, r"fewshot_split=\['a', 'b'\] must be text"),
        ({"test_split": 3}, "test_split=3 must be the name of a split, or a list of names"),
        ({"test_split": []}, r"test_split=\[\] must be the name"),
        ({"validation_split": ["a", 3]}, r"validation_split=\['a', 3\] must be the name"),
        ({"generation_kwargs": ["until"]}, r"generation_kwargs=\['until'\] must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(content: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^t.yaml: {message}"):
        task_config(filled(**content))


@pytest.mark.parametrize(
    ("content", "key", "value"),
    [
        ({"metadata": "1.0"}, "metadata", {"_metadata": "1.0"}),
        ({"metadata": [1]}, "metadata", {"_metadata": [1]}),
        ({"metadata": {"version": 2}}, "metadata", {"version": 2}),
        ({"test_split": ["a", "b"]}, "test_split", ["a", "b"]),
        ({"validation_split": "a"}, "validation_split", "a"),
        ({"dataset_kwargs": None}, "dataset_kwargs", None),
        ({"class": "!function /x/task.Y", "recipe": "r"}, "options", {"recipe": "r"}),
        ({"class": "!function /x/task.Y"}, "python_class", "!function /x/task.Y"),
    ],
)
def test_forms_that_lm_eval_takes(content: dict[str, Any], key: str, value: Any) -> None:
    assert getattr(task_config(filled(**content)), key) == value


@pytest.mark.parametrize("key", ["task_list", "group"])
def test_keys_that_say_nothing_of_the_task_are_left_out(key: str) -> None:
    assert key not in filled(**{key: ["a"]})


@pytest.mark.parametrize(
    ("name", "key"),
    [("arc_easy", "arc_easy"), ("a.b", "a_b"), ("name(x)", "name_x_"), ("mmlu:law", "mmlu_law"), ("a-b|c", "a-b_c")],
)
def test_keys_can_be_typed(name: str, key: str) -> None:
    assert task_key(name) == key


def test_known_keys_that_are_listed_leave_out_our_own() -> None:
    with pytest.raises(UserError) as caught:
        task_config(filled(doc_to_txt="x"))
    assert ", file," not in str(caught.value)
