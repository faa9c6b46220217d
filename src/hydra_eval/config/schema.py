"""The typed configuration of a run. Mutable, because Hydra overrides it; ranges are checked in `__post_init__`.

A field that takes several shapes (a count or a fraction, a name or a list) is `Any` and is checked here too: OmegaConf
has no unions of containers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from hydra_eval.config.checks import check_amount, check_word, is_count, refuse
from hydra_eval.config.prompting import FewshotConfig, PromptConfig
from hydra_eval.errors import UserError

LONGEST_TIMEOUT_HOURS = 24 * 365
AUTO = "auto"


@dataclass
class DataConfig:
    """Where data sets are looked for, and how they are read."""

    root: str | None = None
    """Folder with ORG/NAME/SUBSET/SPLIT.jsonl (or json, csv, tsv, parquet, arrow), looked at before the hub."""
    trust_remote_code: bool = False
    """Hand a task's `trust_remote_code` on to `datasets`; without it the key is dropped."""
    shuffle_seed: int | None = None
    """Puts the documents in another order before they are numbered; null: the data set's own order."""
    dedupe: bool = False
    """Of documents that ask the same and have the same answer, only the first is evaluated."""
    streaming: bool = False
    """Read rows as they are needed: with a count as `limit`, no more than that."""
    retries: int = 5
    """More tries after an error that may pass: no connection, a busy or failing server."""
    workers: int = 4
    """Data sets that are loaded at the same time."""

    def __post_init__(self) -> None:
        for name, least in (("retries", 0), ("workers", 1)):
            if getattr(self, name) < least:
                refuse(f"data.{name}", getattr(self, name), f"must be at least {least}")


@dataclass
class SubsetConfig:
    """A seeded choice of documents, the same for every model; the ids are saved for other runs."""

    n: Any = None
    """Documents per task: a count, or a share below 1."""
    seed: int | None = None
    """Default: the run's `seed`."""
    stratify: str | None = None
    """Column whose values keep their shares."""

    def __post_init__(self) -> None:
        check_amount("subset.n", self.n)


@dataclass
class ModelConfig:
    """What to load, and how to batch."""

    kind: str = "hf"
    """Key of `hydra_eval.models.MODELS`."""
    name: str | None = None
    """Short name for folders and tables; default: the last part of `pretrained`."""
    pretrained: str | None = None
    """Hub name or local folder of the weights."""
    revision: str | None = None
    subfolder: str = ""
    tokenizer: str | None = None
    """Default: the tokenizer of `pretrained`."""
    trust_remote_code: bool = False
    dtype: str = "auto"
    """`auto` is the checkpoint's own; else a torch dtype such as float32 or bfloat16."""
    softmax_dtype: str | None = "float32"
    device: str | None = None
    """Default: one GPU per process where there are any, else the CPU."""
    device_map: Any = None
    """How one process spreads the weights over devices: auto, balanced, sequential, or a mapping from modules."""
    tp_plan: str | None = None
    """auto: all processes hold slices of one model (tensor parallel) and answer every request together."""
    quantization: dict[str, Any] = field(default_factory=dict)
    """Fields of transformers' quantization config: {load_in_4bit: true}, {quant_method: bitsandbytes, …}."""
    adapter: str | None = None
    """Hub name or folder of a PEFT adapter, put over the weights."""
    adapter_revision: str | None = None
    delta: str | None = None
    """Hub name or folder of weights that are added to those of `pretrained`."""
    gguf_file: str | None = None
    """File in `pretrained` that holds the weights in GGUF."""
    compile: Any = False
    """Compile the forward pass: true, or a mode of `torch.compile` (reduce-overhead, max-autotune)."""
    cpu_threads: int | None = None
    """Threads of one process on the CPU. Another number may change last bits; default: OMP_NUM_THREADS, else 1."""
    attn_implementation: str | None = None
    max_length: int | None = None
    """Window in tokens; default: the model's own."""
    batch_size: int | None = None
    """Most requests in one forward pass; default: as many as `batch_tokens` allows."""
    batch_tokens: Any = AUTO
    """Most tokens, padding included, in one forward pass; `auto` goes by the model's shape and the device's memory."""
    exact: Any = AUTO
    """Keep forward passes as they were planned, so that any number of processes gives the same last bits; false: fill
    each process' passes instead. auto: true on the CPU, false on GPUs."""
    prefix_sharing: bool = True
    """Run what requests begin with once for all of them, where the model can; false: each request by itself."""
    think_end_token: Any = None
    """Ends the reasoning of a reply, a text or a token's id (`</think>`); what follows it is the answer."""
    add_bos_token: bool | None = None
    """Default: what the tokenizer does by itself."""
    pair_tokenization: str = "joint"
    """Context and continuation as one text, cut where the context's ids end (joint, as lm-eval does), or each by itself
    (separate, as lighteval does)."""
    prefix_token_id: int | None = None
    """Stands for an empty context; default: beginning-of-sequence, else end-of-sequence."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """Handed to `from_pretrained` as they are."""

    def __post_init__(self) -> None:
        if self.batch_tokens != AUTO and not is_count(self.batch_tokens, least=1):
            refuse("model.batch_tokens", self.batch_tokens, "must be at least 1, or auto")
        for name, least in (("batch_size", 1), ("max_length", 2), ("cpu_threads", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                refuse(f"model.{name}", value, f"must be at least {least}")
        if self.exact not in (True, False, AUTO):
            refuse("model.exact", self.exact, "must be true, false or auto")
        check_word("model.pair_tokenization", self.pair_tokenization, ("joint", "separate"))
        marker = self.think_end_token
        if not (marker is None or (isinstance(marker, str) and marker) or is_count(marker, least=0)):
            refuse("model.think_end_token", marker, "must be a text or a token's id")


@dataclass
class GenerationOverrides:
    """Override a task's `generation_kwargs`, key by key; null leaves the task's own value."""

    max_new_tokens: int | None = None
    do_sample: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: Any = None
    """One string or a list of them."""
    n: int | None = None
    """Replies per request; overrides the task's `repeats`."""
    seed: int | None = None
    """Default: the run's `seed`."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More keys for `transformers.GenerationConfig` (num_beams, repetition_penalty, …)."""

    def __post_init__(self) -> None:
        for name, least in (("max_new_tokens", 1), ("n", 1), ("top_k", 1), ("temperature", 0)):
            value = getattr(self, name)
            if value is not None and not least <= value < math.inf:
                refuse(f"generation.{name}", value, f"must be at least {least}, and finite")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            refuse("generation.top_p", self.top_p, "must be above 0 and at most 1")
        stops = self.stop if isinstance(self.stop, list) else [] if self.stop is None else [self.stop]
        if not all(isinstance(stop, str) for stop in stops):
            refuse("generation.stop", self.stop, "must be a string or a list of strings")
        if "" in stops:
            refuse("generation.stop", self.stop, "an empty string would stop every reply at once; leave it out")


@dataclass
class CheckConfig:
    """What a run checks of itself."""

    numerics: bool = False
    """Score a sample of each task's requests again, one by one and in float32, and say what that changes."""
    documents: int = 16
    """Of each task, in that sample."""
    near_tie: float = 0.01
    """Nats: answers closer than this are a near tie."""
    most_drift: float = 0.1
    """Nats: a log-likelihood that differs by more is warned of."""

    def __post_init__(self) -> None:
        if self.documents < 1:
            refuse("check.documents", self.documents, "must be at least 1")
        for name in ("near_tie", "most_drift"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                refuse(f"check.{name}", value, "must be 0 or more, and finite")


@dataclass
class StatsConfig:
    """Standard errors."""

    bootstrap: int = 100_000
    """Resamples for metrics without a closed form; 0 leaves their error out."""

    def __post_init__(self) -> None:
        if self.bootstrap < 0:
            refuse("stats.bootstrap", self.bootstrap, "must be 0 or more")


@dataclass
class TrackerConfig:
    """Where results are told to, besides the run folder."""

    kind: str = "wandb"
    """Key of `hydra_eval.trackers.TRACKERS`: wandb or none."""
    mode: str = "auto"
    """auto (online with credentials, offline without), online, offline or disabled."""
    project: str = "hydra-eval"
    entity: str | None = None
    group: str | None = None
    """Default: the sweep's folder name in a sweep, else none."""
    job_type: str | None = "eval"
    name: str | None = None
    """Default: tasks, model, shots."""
    tags: list[str] = field(default_factory=list)
    notes: str | None = None
    log_samples: bool = True
    """One table of samples per task."""

    def __post_init__(self) -> None:
        if self.mode not in ("auto", "online", "offline", "disabled"):
            refuse("tracker.mode", self.mode, "must be auto, online, offline or disabled")


@dataclass
class RunnerConfig:
    """Processes."""

    timeout_hours: float = 24.0
    """How long a rank waits for the others."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout_hours <= LONGEST_TIMEOUT_HOURS:
            refuse("runner.timeout_hours", self.timeout_hours, f"must be above 0, {LONGEST_TIMEOUT_HOURS} at the most")


@dataclass
class RunConfig:
    """Everything a run depends on."""

    seed: int = 1234
    limit: Any = None
    """Documents per task: a count, or a share below 1; or a mapping from tasks to either."""
    sample_ids: Any = None
    """Documents by number: a mapping from tasks to lists, or a JSON file that holds one."""
    subset: SubsetConfig = field(default_factory=SubsetConfig)
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    fewshot: FewshotConfig = field(default_factory=FewshotConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    generation: GenerationOverrides = field(default_factory=GenerationOverrides)
    filters: dict[str, Any] = field(default_factory=dict)
    """Pipeline name → list of steps; empty: what the task says."""
    metrics: dict[str, Any] = field(default_factory=dict)
    """Metric name → options; empty: what the task says."""
    stats: StatsConfig = field(default_factory=StatsConfig)
    check: CheckConfig = field(default_factory=CheckConfig)
    tracker: TrackerConfig = field(default_factory=TrackerConfig)
    runner: RunnerConfig = field(default_factory=RunnerConfig)
    allow_code_execution: bool = False
    """Lets tasks run code that the model wrote (humaneval, mbpp, …); without it such a task is refused."""
    dry_run: bool = False
    """Say what the run would do, down to the first prompt's token ids, without loading the model."""
    log_token_ids: bool = False
    """Put the ids of every request into the samples files."""
    resume: str = "auto"
    """auto: the same command goes on in its unfinished folder; never: always a new one."""
    selection: dict[str, Any] = field(default_factory=dict)
    """What `task=` named: each SPEC as typed → name, tasks (key → name) and shots."""
    tasks: dict[str, Any] = field(default_factory=dict)
    """Key → every field of one task's YAML."""
    groups: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_choice()
        if self.resume not in ("auto", "never"):
            refuse("resume", self.resume, "must be auto or never")

    def _check_choice(self) -> None:
        """Of the ways to choose documents, one at a time."""
        limits = self.limit if isinstance(self.limit, dict) else {None: self.limit}
        for task, amount in limits.items():
            check_amount("limit" if task is None else f"limit.{task}", amount)
        if not isinstance(self.sample_ids, dict | str | None):
            refuse("sample_ids", self.sample_ids, "must map tasks to lists of document numbers, or name a JSON file")
        if isinstance(self.sample_ids, dict):
            for task, ids in self.sample_ids.items():
                check_ids(f"sample_ids.{task}", ids)
        given = {"limit": self.limit, "sample_ids": self.sample_ids, "subset.n": self.subset.n}
        chosen = [name for name, value in given.items() if value is not None]
        if len(chosen) > 1:
            raise UserError(f"{' and '.join(chosen)} both choose documents; give one of them.")


def check_ids(field_name: str, ids: object) -> None:
    """Raises UserError where `ids` is no list of document numbers."""
    if not isinstance(ids, list) or not ids or not all(is_count(index, least=0) for index in ids):
        refuse(field_name, ids, "must be a list of document numbers, from 0")
