"""Options that were typed and change nothing in this run: each with the condition under which it is so, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, NamedTuple

from hydra_eval.config.explain import nested_schema
from hydra_eval.config.schema import RunConfig
from hydra_eval.errors import known_names
from hydra_eval.tasks.task import Task

FIXED_STRATEGIES = ("first_n", "fixed", "samples", "nearest")
"""Strategies that draw nothing by chance."""
LISTED_STRATEGIES = ("fixed", "samples")
"""Strategies whose lists say how many examples there are."""
BY_CLASS = ("balanced", "one_per_class")
LABELLED = ("mcf", "hybrid")
"""Formulations that list the choices under labels."""
ALIASES = {"fewshot_strategy": "fewshot.strategy"}
"""Config group → the option that it sets before all."""
IGNORED_BY_DUMMY = (
    *("subfolder", "tokenizer", "trust_remote_code", "dtype", "softmax_dtype", "device", "device_map", "cpu_threads"),
    *("attn_implementation", "batch_size", "add_bos_token", "pair_tokenization", "kwargs"),
    *("tp_plan", "quantization", "adapter", "adapter_revision", "delta", "gguf_file", "compile"),
    "think_end_token",
)
ROLLING = "loglikelihood_rolling"
SHOWN = 5
"""Task names in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A run as far as it is known before its model loads."""

    config: RunConfig
    tasks: Sequence[Task]
    chat: bool
    """A chat template makes the prompts, also one that `auto` found."""
    sampled: Mapping[str, bool]
    """Task that generates → whether it samples; a task's own code may do so too."""

    @property
    def strategy(self) -> str:
        return self.config.fewshot.strategy

    def any_task(self, holds: Callable[[Task], Any]) -> bool:
        return any(map(holds, self.tasks))

    @property
    def shows_examples(self) -> bool:
        return self.any_task(lambda task: task.shots.n > 0)

    @property
    def makes_prompts(self) -> bool:
        """A task's own code may make one for anything."""
        return self.any_task(lambda task: task.output_type != ROLLING or task.own_requests is not None)

    @property
    def asks_for_examples(self) -> bool:
        return self.config.fewshot.n not in (None, 0, [0]) or self.strategy in LISTED_STRATEGIES

    def any_file(self, holds: Callable[[Mapping[str, Any]], Any]) -> bool:
        """Some task's file says so; one that scores whole texts takes no examples, whatever it says of them."""
        return any(holds(content) for content in self.config.tasks.values() if content.get("output_type") != ROLLING)

    @property
    def draws(self) -> bool:
        """A seed changes some task's examples; a task that draws them itself is given it too."""
        by_chance = self.strategy not in FIXED_STRATEGIES or self.config.fewshot.order == "shuffled"
        return by_chance and self.any_task(lambda task: task.shots.n > 0 and not _in_order(task))

    @property
    def greedy(self) -> list[str]:
        """Names of the tasks that generate without sampling."""
        return [name for name, is_sampled in self.sampled.items() if not is_sampled]

    @property
    def scores_choices(self) -> bool:
        return self.any_task(lambda task: task.output_type == "multiple_choice" or task.own_requests is not None)

    @property
    def bootstraps(self) -> bool:
        return self.any_task(lambda task: any(metric.aggregation.stderr == "bootstrap" for metric in task.metrics))


class Rule(NamedTuple):
    """When some options change nothing."""

    options: tuple[str, ...]
    holds: Callable[[Situation], Any]
    why: str | Callable[[Situation], str]


def _in_order(task: Task) -> bool:
    """The sampler that the task names takes the pool's first rows; lighteval's of that name goes by the seed."""
    plan = task.shots
    return (plan.strategy, plan.sampler, plan.compat) == ("task", "first_n", "lm_eval") and plan.order != "shuffled"


def _is_pinned(content: Mapping[str, Any]) -> bool:
    return content.get("num_fewshot") == 0


def _is_fixed(content: Mapping[str, Any]) -> bool:
    return bool((content.get("fewshot_config") or {}).get("fixed"))


def _named_greedy(run: Situation) -> str:
    return f"{known_names(run.greedy, shown=SHOWN)}: the likeliest token is taken; generation.do_sample=true samples"


def _below(section: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{section}.{name}" for name in names)


def _strategy_is_not(*names: str) -> Callable[[Situation], bool]:
    """Holds where examples are shown, and by another strategy; a function of the user's may look at anything."""
    return lambda run: run.shows_examples and run.strategy not in names and ":" not in run.strategy


RULES: tuple[Rule, ...] = (
    Rule(
        (
            *_below("fewshot", "strategy", "seed", "seeds", "order", "split", "class_field", "indices", "samples"),
            *_below("fewshot", "similarity", "shortfall", "on_eval_split", "compat", "on_leak"),
        ),
        lambda run: not run.shows_examples,
        "no task shows examples (fewshot.n)",
    ),
    Rule(
        _below("fewshot", "seed", "seeds"),
        lambda run: run.shows_examples and not run.draws,
        "this choice of examples leaves nothing to chance",
    ),
    Rule(
        ("fewshot.class_field",),
        _strategy_is_not(*BY_CLASS),
        "only fewshot_strategy=balanced and one_per_class look at classes",
    ),
    Rule(("fewshot.indices",), _strategy_is_not("fixed"), "only fewshot_strategy=fixed shows them"),
    Rule(("fewshot.samples",), _strategy_is_not("samples"), "only fewshot_strategy=samples shows them"),
    Rule(("fewshot.similarity",), _strategy_is_not("nearest"), "only fewshot_strategy=nearest compares questions"),
    Rule(
        ("fewshot.compat",),
        lambda run: run.shows_examples and run.strategy in FIXED_STRATEGIES and not run.draws,
        "this strategy picks the same examples under the rules of both harnesses",
    ),
    Rule(
        ("fewshot.split",),
        lambda run: run.shows_examples and run.strategy == "samples",
        "the examples are written out in fewshot.samples",
    ),
    Rule(
        ("fewshot.on_pinned",),
        lambda run: not (run.asks_for_examples and run.any_file(_is_pinned)),
        "no task whose file says num_fewshot: 0 is asked for examples (fewshot.n)",
    ),
    Rule(("fewshot.on_fixed",), lambda run: not run.any_file(_is_fixed), "no task's file fixes its number of examples"),
    Rule(
        _below(
            *("prompt", "chat_template", "system", "no_system_role", "multiturn", "template_args", "style", "overflow")
        ),
        lambda run: not run.makes_prompts,
        "no task has prompts; whole texts are scored as they are",
    ),
    Rule(
        _below("prompt", "multiturn", "template_args", "no_system_role"),
        lambda run: not run.chat,
        "no chat template makes the prompts (prompt.chat_template)",
    ),
    Rule(
        ("prompt.choice_space",),
        lambda run: not run.scores_choices,
        "no task scores choices",
    ),
    Rule(
        ("prompt.choice_prefix",),
        lambda run: run.config.prompt.formulation not in LABELLED,
        "only prompt.formulation=mcf and hybrid write labels",
    ),
    Rule(
        _below(
            "generation", "max_new_tokens", "do_sample", "temperature", "top_p", "top_k", "seed", "stop", "n", "extra"
        ),
        lambda run: not run.sampled,
        "no task generates text",
    ),
    Rule(("model.think_end_token",), lambda run: not run.sampled, "no task generates text"),
    Rule(
        ("generation.temperature",),
        lambda run: run.greedy and run.config.generation.temperature != 0,
        _named_greedy,
    ),
    Rule(_below("generation", "top_p", "top_k", "seed"), lambda run: run.greedy, _named_greedy),
    Rule(
        ("stats.bootstrap",),
        lambda run: not run.bootstraps,
        "no metric's error is found by resampling",
    ),
    Rule(
        _below("check", "documents", "near_tie", "most_drift"),
        lambda run: not run.config.check.numerics,
        "nothing is asked a second time (check.numerics)",
    ),
    Rule(
        _below("subset", "seed", "stratify"),
        lambda run: run.config.subset.n is None,
        "no subset is drawn (subset.n)",
    ),
    Rule(
        ("data.streaming",),
        lambda run: run.config.limit is None,
        "without a limit every row is read",
    ),
    Rule(
        _below("tracker", "mode", "project", "entity", "group", "job_type", "name", "tags", "notes", "log_samples"),
        lambda run: run.config.tracker.kind == "none",
        "nothing is told to a tracker (tracker=none)",
    ),
    Rule(
        _below("model", *IGNORED_BY_DUMMY),
        lambda run: run.config.model.kind == "dummy",
        "model=dummy has no weights and a tokenizer of its own",
    ),
)
"""A first rule that holds is told, and no other for the same option."""


def without_effect(run: Situation, overrides: Sequence[str]) -> list[str]:
    """One line for each rule that options of `overrides` meet. What a config group sets nobody typed."""
    typed = {path for path in _typed(overrides) if is_changed(run.config, path)}
    lines: list[str] = []
    for rule in RULES:
        idle = [path for path in rule.options if path in typed] if rule.holds(run) else []
        typed -= set(idle)
        if idle:
            why = rule.why if isinstance(rule.why, str) else rule.why(run)
            lines.append(f"{', '.join(idle)}: {why}.")
    return lines


def is_changed(config: RunConfig, path: str) -> bool:
    """The option's value is not the schema's."""
    schema: Any = RunConfig
    value: Any = config
    *above, name = path.split(".")
    for part in above:
        schema, value = nested_schema(schema, part), getattr(value, part)
    return bool(getattr(value, name) != default_of(schema, name))


def default_of(schema: Any, name: str) -> Any:
    """Raises KeyError for an option that the schema does not have."""
    known = {option.name: option for option in fields(schema)}[name]
    return known.default_factory() if known.default_factory is not MISSING else known.default


def _typed(overrides: Sequence[str]) -> Iterator[str]:
    """Options of the rules that the overrides name: themselves, with what is above them, or by what is below."""
    keys = [override.partition("=")[0].lstrip("+~").partition("@")[0] for override in overrides]
    given: Mapping[str, None] = dict.fromkeys(ALIASES.get(key, key) for key in keys)
    for path in dict.fromkeys(path for rule in RULES for path in rule.options):
        if any(f"{path}.".startswith(f"{key}.") or f"{key}.".startswith(f"{path}.") for key in given):
            yield path
