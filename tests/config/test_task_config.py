from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_config import OUTPUT_TYPES, fill_defaults, task_config
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
        ({"class": "!function x.Y"}, "'class': tasks written as Python classes are not supported yet"),
        ({"group": "g", "class": "!function x.Y"}, "'class': tasks written as Python classes"),
        ({"doc_to_image": ["image"]}, "'doc_to_image': images are not supported yet"),
        ({"doc_to_audio": "audio"}, "'doc_to_audio': sounds are not supported yet"),
        ({"custom_dataset": "!function x.y"}, "'custom_dataset': custom data-set functions"),
        ({"use_prompt": "promptsource:x"}, "'use_prompt': promptsource prompts"),
        ({"unsafe_code": True}, "'t' runs code that the model wrote"),
        ({"num_fewshot": "five"}, "num_fewshot='five' must be a whole number from 0"),
        ({"num_fewshot": -1}, "num_fewshot=-1 must be a whole number from 0"),
        ({"num_fewshot": True}, "num_fewshot=True must be a whole number"),
        ({"repeats": 0}, "repeats=0 must be a whole number from 1"),
        ({"repeats": 1.5}, "repeats=1.5 must be a whole number from 1"),
        ({"test_split": 3}, "test_split=3 must be text"),
        ({"generation_kwargs": ["until"]}, r"generation_kwargs=\['until'\] must be a mapping"),
        ({"metadata": "1.0"}, "metadata='1.0' must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(content: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^t.yaml: {message}"):
        task_config(filled(**content))


def test_known_keys_that_are_listed_leave_out_our_own() -> None:
    with pytest.raises(UserError) as caught:
        task_config(filled(doc_to_txt="x"))
    assert ", file," not in str(caught.value)
