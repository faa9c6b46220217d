"""The keys of a task YAML (lm-eval's schema), their defaults, and the check that there are no others."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra_eval.errors import UserError, did_you_mean, known_names

OUTPUT_TYPES = ("multiple_choice", "generate_until", "loglikelihood", "loglikelihood_rolling")
REFUSED = {
    "use_prompt": "promptsource prompts",
    "turns": "dialogues in which the model answers several times",
    "doc_to_image": "images",
    "doc_to_audio": "sounds",
}
"""Keys that are known and not honoured yet; refused by name rather than ignored."""
NOT_OF_A_TASK = ("group", "task_list")
"""Keys that a task's file may have and that say nothing about the task, as in lm-eval."""
KINDS: dict[str, type] = {
    **dict.fromkeys(("training_split", "fewshot_split"), str),
    **dict.fromkeys(("dataset_path", "dataset_name", "target_delimiter", "fewshot_delimiter", "output_type"), str),
    **dict.fromkeys(("dataset_kwargs", "fewshot_config", "generation_kwargs", "metadata"), dict),
}
"""Keys whose value can only be text, or a mapping."""
SEVERAL = ("validation_split", "test_split")
"""Keys that name one split, or a list of splits that are evaluated one after the other."""


@dataclass(kw_only=True)
class TaskConfig:
    """One task as its YAML and the command line say it, before anything is resolved."""

    task: str
    file: str
    """Where it was read."""
    task_alias: str | None = None
    tag: Any = None
    dataset_path: str | None = None
    dataset_name: str | None = None
    dataset_kwargs: dict[str, Any] | None = None
    training_split: str | None = None
    validation_split: Any = None
    test_split: Any = None
    """The documents: a split, or several of them in order; where there is none, those of `validation_split`."""
    fewshot_split: str | None = None
    process_docs: str | None = None
    doc_to_text: Any = None
    doc_to_target: Any = None
    doc_to_choice: Any = None
    doc_to_question: Any = None
    """The question without its options, where `prompt.formulation` could not tell them from the text; not lm-eval's."""
    doc_to_options: Any = None
    """The options' texts, for the same."""
    process_results: str | None = None
    description: str = ""
    target_delimiter: str = " "
    fewshot_delimiter: str = "\n\n"
    fewshot_config: dict[str, Any] | None = None
    num_fewshot: int | None = None
    metric_list: list[Any] | None = None
    output_type: str = "generate_until"
    generation_kwargs: dict[str, Any] | None = None
    repeats: int = 1
    filter_list: list[Any] | None = None
    should_decontaminate: bool = False
    doc_to_decontamination_query: Any = None
    gen_prefix: str | None = None
    unsafe_code: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    use_prompt: str | None = None
    doc_to_image: Any = None
    doc_to_audio: Any = None
    custom_dataset: str | None = None
    python_class: str | None = None
    """A task written as a Python class: the reference under its YAML's key `class`."""
    options: dict[str, Any] = field(default_factory=dict)
    """For such a class: every key of its YAML that the schema does not have."""
    table: str | None = None
    """A Python file or module whose TASKS_TABLE has the task."""


KNOWN = tuple(known.name for known in dataclasses.fields(TaskConfig))


def fill_defaults(content: Mapping[str, Any], *, path: Path) -> dict[str, Any]:
    """Every key of the schema, from the file where it has it; unknown keys stay, for `task_config` to refuse.

    The YAML of a Python class may have keys of its own; they become its `options`. Metadata that is no mapping becomes
    one, as in lm-eval.
    """
    content = {key: value for key, value in content.items() if key not in NOT_OF_A_TASK}
    if not isinstance(metadata := content.get("metadata") or {}, Mapping):
        content["metadata"] = {"_metadata": metadata}
    if "class" in content:
        own = {key: value for key, value in content.items() if key not in KNOWN and key != "class"}
        known = {key: value for key, value in content.items() if key in KNOWN}
        content = {**known, "python_class": content["class"], "options": own}
    defaults = {known.name: _default(known) for known in dataclasses.fields(TaskConfig)}
    given = {key: value for key, value in content.items() if value is not None or defaults.get(key) is None}
    return defaults | given | {"file": str(path)}


def task_config(content: Mapping[str, Any]) -> TaskConfig:
    """Check one composed task. Raises UserError with the file for a key that is misspelt or not honoured."""
    where = content.get("file", "task")
    for key, refused in REFUSED.items():
        if content.get(key) is not None:
            raise UserError(f"{where}: task '{content.get('task')}': '{key}': {refused} are not supported yet.")
    for key in content:
        if key not in KNOWN:
            raise UserError(f"{where}: unknown key '{key}'.{did_you_mean(str(key), KNOWN)} Known: {_known()}.")
    config = TaskConfig(**dict(content))
    _check_types(config)
    if config.output_type not in OUTPUT_TYPES:
        raise UserError(
            f"{where}: output_type '{config.output_type}' is not known."
            f"{did_you_mean(config.output_type, OUTPUT_TYPES)} Known: {', '.join(OUTPUT_TYPES)}."
        )
    return config


def _check_types(config: TaskConfig) -> None:
    for key, kind in KINDS.items():
        value = getattr(config, key)
        if value is not None and not isinstance(value, kind):
            raise UserError(f"{config.file}: {key}={value!r} must be {'text' if kind is str else 'a mapping of keys'}.")
    for key in SEVERAL:
        value = getattr(config, key)
        names = value if isinstance(value, list) else [value]
        if value is not None and not (names and all(isinstance(name, str) for name in names)):
            raise UserError(f"{config.file}: {key}={value!r} must be the name of a split, or a list of names.")
    for key, least in (("num_fewshot", 0), ("repeats", 1)):
        value = getattr(config, key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise UserError(f"{config.file}: {key}={value!r} must be a whole number from {least}.")


def task_key(name: str) -> str:
    """The name with the characters that Hydra's overrides cannot take replaced by `_`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def shared_key(key: str, one: str, other: str) -> str:
    """What is said of two tasks in one run that the config cannot tell apart."""
    return f"'{one}' and '{other}' have the same key, tasks.{key}, and cannot be in one run. Run them one by one."


def _known() -> str:
    return known_names(set(KNOWN) - {"file"}, shown=len(KNOWN))


def _default(known: dataclasses.Field[Any]) -> Any:
    if known.default is not dataclasses.MISSING:
        return known.default
    return known.default_factory() if known.default_factory is not dataclasses.MISSING else None
