"""One task file as lm-eval and as hydra-eval build it, on the same local files; and what each would ask a model."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import DataConfig, FewshotConfig, RunConfig
from hydra_eval.config.task_index import Entry, TaskIndex
from hydra_eval.config.task_source import options_for
from hydra_eval.pipeline import Work, prepare
from hydra_eval.prompts.style import ChatRenderer, Style
from hydra_eval.sample_file import digest, doc_hash
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

from .catalogue import ENDINGS, TaskFile

SEED = 1234
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one program asks about one document."""

    doc_hash: str
    target_hash: str
    prompt_hash: str
    arguments: tuple[tuple[Any, ...], ...] = field(repr=False)
    """One entry per request."""
    requests: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    """The program's own objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All documents of one task as one program asks them."""

    docs: Mapping[int, Asked]
    leaks: Mapping[int, int] = field(default_factory=dict)
    """lm-eval: document → examples that are the document itself, or say the same."""
    replaced: int = 0
    """hydra-eval: examples that made way for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How messages become text, for both programs."""

    name: str = "plain"
    theirs: Callable[..., str] | None = None
    """lm-eval's `(messages, add_generation_prompt) -> text`; None: plain text."""
    ours: ChatRenderer | None = None
    multiturn: bool = True
    system: str | None = None


PLAIN = Wording()


# --- lm-eval ---


def their_task(task: TaskFile, files: Mapping[str, Path], keys: Mapping[str, Any] = NOTHING) -> Any:
    """lm-eval's own object for the file, with `keys` over it; only the download is replaced."""
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._factory import TaskFactory
    from lm_eval.tasks._index import TaskIndex as TheirIndex

    class LocalTask(ConfigurableTask):
        def download(self, dataset_kwargs: Any = None, **kwargs: Any) -> None:
            if callable(self.config.custom_dataset):
                super().download(dataset_kwargs, **kwargs)
            else:
                self.dataset = read_splits(files)

    random.seed(0)  # as lm-eval does before it loads anything
    entry = TheirIndex.entry_from_path(task.path)
    assert entry is not None
    config = TaskFactory()._load_full_config(entry, None)
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    return LocalTask(config=config | dict(keys))


def read_splits(files: Mapping[str, Path]) -> Any:
    import datasets

    splits = {
        split: datasets.load_dataset(ENDINGS[file.suffix], data_files=str(file), split="train")
        for split, file in files.items()
    }
    return datasets.DatasetDict(splits)


def seen_by_lm_eval(task: Any, *, shots: int | None, wording: Wording = PLAIN, limit: int | None = None) -> Seen:
    """What `task` asks with so many examples; None: its own number. A 0 of the task's stays, as in lm-eval."""
    own = task.config.num_fewshot
    drawn = _recorded(task)
    task.set_config("num_fewshot", own if own == 0 or shots is None else shots)
    task.set_fewshot_seed(SEED)
    try:
        task.build_all_requests(
            limit=limit,
            system_instruction=wording.system,
            apply_chat_template=wording.theirs is not None,
            fewshot_as_multiturn=wording.theirs is not None and wording.multiturn,
            chat_template=wording.theirs,
        )
    finally:
        task.set_config("num_fewshot", own)
    return Seen(docs=_by_document(task, limit), leaks=_leaks(task, drawn, limit))


def _recorded(task: Any) -> list[Sequence[Any]]:
    """A list that gets the examples of each document, as lm-eval draws them."""
    drawn: list[Sequence[Any]] = []
    sample = type(task.sampler).sample

    def sampled(*args: Any, **kwargs: Any) -> Any:
        drawn.append(sample(task.sampler, *args, **kwargs))
        return drawn[-1]

    task.sampler.sample = sampled
    return drawn


def _leaks(task: Any, drawn: Sequence[Sequence[Any]], limit: int | None) -> dict[int, int]:
    if not drawn or task.OUTPUT_TYPE == "loglikelihood_rolling":  # its examples are drawn, and not shown
        return {}
    examples = task.fewshot_cfg
    shown = {id(shot): _said(task, shot, examples) for shots in drawn for shot in shots}
    docs = [(doc, _said(task, doc, task.config)) for _, doc in task.doc_iterator(limit=limit)]
    counts = [
        sum(shot == doc or shown[id(shot)] == said for shot in shots)
        for (doc, said), shots in zip(docs, drawn, strict=True)
    ]
    return {number: count for number, count in enumerate(counts) if count}


def _said(task: Any, doc: Any, config: Any) -> tuple[Any, ...]:
    """Question and right answers in words. Where nothing else is asked the choices are the question."""
    text, target = task.doc_to_text(doc, config.doc_to_text), task.doc_to_target(doc, config.doc_to_target)
    choices = task.doc_to_choice(doc, config.doc_to_choice) if config.doc_to_choice else []
    asked = text if isinstance(text, str) and text.strip() else tuple(map(str, choices)) or str(text)
    answers = target if isinstance(target, list | tuple) else [target]
    return asked, *(str(choices[one] if isinstance(one, int) and choices else one) for one in answers)


def _by_document(task: Any, limit: int | None) -> dict[int, Asked]:
    """The hashes are worked out as `lm_eval.evaluator` does for its samples file."""
    from lm_eval.utils import handle_non_serializable, hash_string

    instances = defaultdict(list)
    for instance in task.instances:
        instances[instance.doc_id].append(instance)
    asked = {}
    for number, doc in task.doc_iterator(limit=limit):
        requests = sorted(instances[number], key=lambda instance: instance.idx)
        row = json.dumps(requests[0].doc, indent=2, default=handle_non_serializable, ensure_ascii=False)
        asked[number] = Asked(
            doc_hash=hash_string(row),
            target_hash=hash_string(str(task.doc_to_target(doc))),
            prompt_hash=hash_string(requests[0].arguments[0]),
            arguments=tuple(deepcopy(request.args) for request in requests),
            requests=tuple(requests),
        )
    return asked


# --- hydra-eval ---


def our_config(
    task: TaskFile,
    root: Path,
    *,
    shots: int | None,
    limit: int | None = None,
    keys: Mapping[str, Any] = NOTHING,
    **changes: Any,
) -> RunConfig:
    """The run's config for the file with `keys` over it, without Hydra."""
    index = TaskIndex(entries={task.name: Entry(name=task.name, kind="task", path=task.path)})
    content = options_for(task.name, index)
    elsewhere = {"dataset_path": task.data_set[0], "dataset_kwargs": None} if task.is_redirected else {}
    for fields in content["tasks"].values():
        fields |= elsewhere | dict(keys)
    return RunConfig(
        **content,
        data=DataConfig(root=str(root)),
        fewshot=FewshotConfig(n=shots, on_pinned="keep"),
        limit=limit,
        allow_code_execution=True,
        **changes,
    )


def our_task(task: TaskFile, root: Path, **options: Any) -> Task:
    """`options`: those of `our_config`."""
    random.seed(0)
    (built,) = build_tasks(our_config(task, root, **options))
    return built


def our_work(task: Task, wording: Wording = PLAIN) -> Work:
    return prepare([task], _style(wording), batch_tokens=8192)


def seen_by_us(task: Task, work: Work) -> Seen:
    docs = {}
    requests_of = work.requests_of
    for doc in task.docs:
        requests = [instance for instance in requests_of[doc.key] if instance.key.repeat == 0]
        docs[doc.index] = Asked(
            doc_hash=doc_hash(doc.row),
            target_hash=digest(str(task.template.target(doc.row))),
            prompt_hash=digest(requests[0].arguments[0]),
            arguments=tuple(request.arguments for request in requests),
            requests=tuple(requests),
        )
    return Seen(docs=docs, replaced=work.picks[task.name].replaced)


def _style(wording: Wording) -> Style:
    return Style(chat=wording.ours, multiturn=wording.multiturn, system=wording.system)
