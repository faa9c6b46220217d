"""The base classes of tasks written in Python, over our own prompts, requests and scores.

`Task` leaves all wording to its subclass; `ConfigurableTask` follows its config, of which a subclass overrides what it
likes. Attributes and signatures are those that task code uses in lm-eval 0.4.13.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import datasets

from hydra_eval.instances import request_arguments
from hydra_eval.lm_eval_compat.api.instance import Instance
from hydra_eval.lm_eval_compat.api.record import as_doc, record_of
from hydra_eval.lm_eval_compat.api.samplers import get_sampler
from hydra_eval.lm_eval_compat.config.task import TaskConfig
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.style import ChatRenderer, Style
from hydra_eval.scoring import scores_of
from hydra_eval.tasks.templates import choice_field, key_field, target_field, text_field


class Task(ABC):
    VERSION: Any = None
    DATASET_PATH: str | None = None
    DATASET_NAME: str | None = None
    OUTPUT_TYPE: Any = None

    def __init__(
        self, data_dir: Any = None, cache_dir: Any = None, download_mode: Any = None, config: Any = None
    ) -> None:
        self.download(data_dir, cache_dir, download_mode)
        self._config = TaskConfig()  # lm-eval, too, makes nothing of `config` here
        self.fewshot_rnd: random.Random | None = None

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Called with data_dir, cache_dir and download_mode; those that are None say nothing."""
        given = dict(zip(("data_dir", "cache_dir", "download_mode"), args, strict=False)) | kwargs
        given = {key: value for key, value in given.items() if value is not None}
        self.dataset = datasets.load_dataset(path=self.DATASET_PATH, name=self.DATASET_NAME, **given)

    @property
    def config(self) -> TaskConfig:
        return self._config

    @abstractmethod
    def has_training_docs(self) -> bool: ...

    @abstractmethod
    def has_validation_docs(self) -> bool: ...

    @abstractmethod
    def has_test_docs(self) -> bool: ...

    def training_docs(self) -> Any:
        return []

    def validation_docs(self) -> Any:
        return []

    def test_docs(self) -> Any:
        return []

    def fewshot_docs(self) -> Any:
        """Training, else validation, else test documents."""
        if self.has_training_docs():
            return self.training_docs()
        return self.validation_docs() if self.has_validation_docs() else self.test_docs()

    @property
    def eval_docs(self) -> Any:
        """Test, else validation documents."""
        if self.has_test_docs():
            return self.test_docs()
        if self.has_validation_docs():
            return self.validation_docs()
        raise ValueError(f"{type(self).__name__} has neither test nor validation documents")

    @abstractmethod
    def doc_to_text(self, doc: Any) -> Any: ...

    @abstractmethod
    def doc_to_target(self, doc: Any) -> Any: ...

    def doc_to_prefix(self, doc: Any) -> Any:
        return ""

    def fewshot_context(self, doc: Any, num_fewshot: int, **kwargs: Any) -> Any:
        """Description, `num_fewshot` examples with their answers, and the question, as one text."""
        shots = self._shots(doc, num_fewshot, kwargs.get("rnd") or self.fewshot_rnd) if num_fewshot else []
        worded = [self.doc_to_text(shot) + self.doc_to_target(shot) + "\n\n" for shot in shots]
        return (kwargs.get("description") or "") + "".join(worded) + self.doc_to_text(doc)

    def _shots(self, doc: Any, count: int, rnd: Any) -> list[Any]:
        pool = list(self.fewshot_docs())
        if self.has_training_docs():
            return list(rnd.sample(pool, count))
        return [shot for shot in rnd.sample(pool, count + 1) if shot != doc][:count]

    @abstractmethod
    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Any: ...

    @abstractmethod
    def process_results(self, doc: Any, results: Any) -> Any: ...

    @abstractmethod
    def aggregation(self) -> Any: ...

    @abstractmethod
    def higher_is_better(self) -> Any: ...

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        self.fewshot_rnd = random.Random(seed)

    def get_config(self, key: str) -> Any:
        return self.config.get(key)

    def set_config(self, key: str, value: Any, update: bool = False) -> None:
        self.config[key] = {**(self.config[key] or {}), **value} if update else value

    def dump_config(self) -> dict[str, Any]:
        return self.config.to_dict()

    @classmethod
    def count_bytes(cls, doc: str) -> int:
        return len(doc.encode())

    @classmethod
    def count_words(cls, doc: str) -> int:
        return len(re.split(r"\s+", doc))


class ConfigurableTask(Task):
    VERSION = "Yaml"
    CONFIG: TaskConfig | None = None

    def __init__(
        self, data_dir: Any = None, cache_dir: Any = None, download_mode: Any = None, config: Any = None
    ) -> None:
        self._config = self._configured(config)
        if isinstance(self.config.metadata, Mapping):
            self.VERSION = self.config.metadata.get("version", self.VERSION)
        self.OUTPUT_TYPE = self.config.output_type
        self.DATASET_PATH = self.config.dataset_path or self.DATASET_PATH
        self.DATASET_NAME = self.config.dataset_name or self.DATASET_NAME
        if self.config.unsafe_code:
            self.UNSAFE_CODE = True
        self.download(self.config.dataset_kwargs)
        self.fewshot_cfg: dict[str, Any] = {"split": self.config.fewshot_split, **(self.config.fewshot_config or {})}
        self.task_docs = self.eval_docs
        self.features = list(self.task_docs[0])
        self.sampler = get_sampler(self.fewshot_cfg.get("sampler", "default"))(self.fewshot_docs())
        self._record = record_of(self)

    def _configured(self, config: Mapping[str, Any] | None) -> TaskConfig:
        if self.CONFIG is None:
            return TaskConfig(**(config or {}))
        vars(self.CONFIG).update(config or {})
        return self.CONFIG

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Called with `dataset_kwargs`."""
        given = {key: value for options in args for key, value in (options or {}).items()} | kwargs
        given.pop("trust_remote_code", None)
        if callable(self.config.custom_dataset):
            self.dataset = self.config.custom_dataset(**(self.config.metadata or {}), **given)
        else:
            self.dataset = datasets.load_dataset(path=self.DATASET_PATH, name=self.DATASET_NAME, **given)

    def has_training_docs(self) -> bool:
        return self.config.training_split is not None

    def has_validation_docs(self) -> bool:
        return self.config.validation_split is not None

    def has_test_docs(self) -> bool:
        return self.config.test_split is not None

    def training_docs(self) -> Any:
        return self._processed(self.config.training_split, self.config.process_docs)

    def validation_docs(self) -> Any:
        return self._processed(self.config.validation_split, self.config.process_docs)

    def test_docs(self) -> Any:
        return self._processed(self.config.test_split, self.config.process_docs)

    def fewshot_docs(self) -> Any:
        if self.fewshot_cfg["split"] is not None:
            return self._processed(
                self.fewshot_cfg["split"], self.fewshot_cfg.get("process_docs", self.config.process_docs)
            )
        samples = self.fewshot_cfg.get("samples")
        if samples is not None:
            return samples() if callable(samples) else samples
        return super().fewshot_docs()

    def _processed(self, split: str | None, process: Callable[[Any], Any] | None) -> Any:
        return process(self.dataset[split]) if process is not None else self.dataset[split]

    def doc_to_text(self, doc: Any, doc_to_text: Any = None) -> Any:
        return text_field(self._or_own(doc_to_text, "doc_to_text"), **self._field("doc_to_text"))(doc)

    def doc_to_target(self, doc: Any, doc_to_target: Any = None) -> Any:
        return target_field(self._or_own(doc_to_target, "doc_to_target"), **self._field("doc_to_target"))(doc)

    def doc_to_choice(self, doc: Any, doc_to_choice: Any = None) -> Any:
        value = self._or_own(doc_to_choice, "doc_to_choice")
        field = choice_field(value, columns=self.features, where=f"{self.config.task}: doc_to_choice")
        return field(doc) if field is not None else None

    def doc_to_prefix(self, doc: Any) -> Any:
        return key_field(self.config.gen_prefix, where=f"{self.config.task}: gen_prefix")(doc)

    def _or_own(self, value: Any, key: str) -> Any:
        return self.config[key] if value is None else value

    def _field(self, key: str) -> Any:
        has_choices = self.config.doc_to_choice is not None
        return {"columns": self.features, "has_choices": has_choices, "where": f"{self.config.task}: {key}"}

    def fewshot_context(self, doc: Any, num_fewshot: int, **kwargs: Any) -> Any:
        """The prompt, as for any task of ours, from the wording that the subclass gives.

        `kwargs`: system_instruction, apply_chat_template, fewshot_as_multiturn, chat_template, gen_prefix.
        """
        pinned = doc if self.fewshot_cfg["split"] == self.config.test_split else None
        shots = self.sampler.sample(num_fewshot, eval_doc=pinned) if num_fewshot else []
        style = Style(
            chat=_chat(kwargs["chat_template"]) if kwargs.get("apply_chat_template") else None,
            multiturn=bool(kwargs.get("fewshot_as_multiturn")),
            system=kwargs.get("system_instruction"),
        )
        return render_prompt(self._record, as_doc(doc), [as_doc(shot) for shot in shots], style)

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Any:
        chat = bool(kwargs.pop("apply_chat_template", False))
        kwargs.pop("chat_template", None)
        several = self.OUTPUT_TYPE == "multiple_choice"
        ask = partial(Instance, "loglikelihood" if several else self.OUTPUT_TYPE, doc, **kwargs)
        arguments = request_arguments(self._record, as_doc(doc), ctx, chat=chat)
        requests = [ask(arguments=one, idx=index) for index, one in enumerate(arguments)]
        return requests if several else requests[0]

    def process_results(self, doc: Any, results: Any) -> Any:
        if callable(self.config.process_results):
            return self.config.process_results(doc, results)
        return scores_of(self._record, as_doc(doc), list(results))[0]

    def aggregation(self) -> Any:
        return {metric.name: metric.aggregation.combine for metric in self._record.metrics}

    def higher_is_better(self) -> Any:
        return {metric.name: metric.higher_is_better for metric in self._record.metrics}

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        super().set_fewshot_seed(seed)
        self.sampler.set_rnd(seed)

    def should_decontaminate(self) -> bool:
        return bool(self.config.should_decontaminate)


def _chat(chat_template: Callable[..., str]) -> ChatRenderer:
    return lambda messages, prompts: chat_template(messages, add_generation_prompt=prompts)
