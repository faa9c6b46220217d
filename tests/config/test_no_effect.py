from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.config.explain import unknown_key
from hydra_eval.config.no_effect import RULES, Situation, default_of, is_changed, without_effect
from hydra_eval.config.schema import ModelConfig, RunConfig
from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.tasks.task import Task

from ..toys import shot_plan, toy_task

CHOICE = toy_task(shots=shot_plan(n=2))
BARE = toy_task()
ROLLING = toy_task("loglikelihood_rolling", name="texts")
REPLY = toy_task("generate_until", name="reply")
FIRST = toy_task(shots=shot_plan(n=2, sampler="first_n"))
RESAMPLED = replace(BARE, metrics=tuple(replace(metric, aggregation=AGGREGATIONS["median"]) for metric in BARE.metrics))


def lines(option: str, value: Any, *tasks: Task, chat: bool = False, sampled: bool = False, **others: Any) -> list[str]:
    """What is said of `option=value`, typed for a run of these tasks; of `others` nobody typed any."""
    config = RunConfig()
    for path, given in {option: value, **others}.items():
        *above, name = path.split(".")
        section: Any = config
        for part in above:
            section = getattr(section, part)
        setattr(section, name, given)
    replying = {task.name: sampled for task in tasks if task.generation is not None}
    return without_effect(Situation(config=config, tasks=tasks, chat=chat, sampled=replying), [f"{option}=typed"])


WITHOUT_EXAMPLES: dict[str, Any] = {
    "fewshot.strategy": "random",
    "fewshot.seed": 3,
    "fewshot.seeds": [1, 2],
    "fewshot.order": "reversed",
    "fewshot.split": "validation",
    "fewshot.class_field": "label",
    "fewshot.indices": [1],
    "fewshot.samples": [{}],
    "fewshot.similarity": "overlap",
    "fewshot.shortfall": "allow",
    "fewshot.on_eval_split": "allow",
    "fewshot.compat": "lighteval",
    "fewshot.on_leak": "allow",
}
WITH_EXAMPLES: dict[str, dict[str, Any]] = {
    "fewshot.class_field": {"fewshot.strategy": "balanced"},
    "fewshot.indices": {"fewshot.strategy": "fixed"},
    "fewshot.samples": {"fewshot.strategy": "samples"},
    "fewshot.similarity": {"fewshot.strategy": "nearest"},
}
"""What these options need besides examples."""
CHAT: dict[str, Any] = {
    "prompt.multiturn": False,
    "prompt.template_args": {"enable_thinking": False},
    "prompt.no_system_role": "drop",
}
PROMPT: dict[str, Any] = {
    "prompt.chat_template": True,
    "prompt.system": "Be brief.",
    "prompt.style": "lighteval",
    "prompt.overflow": "skip",
}
PINNED = {"tasks": {"toy": {"num_fewshot": 0}}}
FIXED = {"tasks": {"toy": {"fewshot_config": {"fixed": True}}}}
WHOLE = {"output_type": "loglikelihood_rolling"}
GENERATION: dict[str, Any] = {
    "generation.max_new_tokens": 8,
    "generation.do_sample": True,
    "generation.temperature": 0.7,
    "generation.top_p": 0.9,
    "generation.top_k": 5,
    "generation.seed": 3,
    "generation.stop": ["x"],
    "generation.n": 2,
    "generation.extra": {"num_beams": 2},
}
SAMPLING = ("generation.temperature", "generation.top_p", "generation.top_k", "generation.seed")
TRACKER: dict[str, Any] = {
    "tracker.mode": "offline",
    "tracker.project": "p",
    "tracker.entity": "e",
    "tracker.group": "g",
    "tracker.job_type": "j",
    "tracker.name": "n",
    "tracker.tags": ["t"],
    "tracker.notes": "n",
    "tracker.log_samples": False,
}
MODEL: dict[str, Any] = {
    "model.subfolder": "x",
    "model.tokenizer": "x",
    "model.trust_remote_code": True,
    "model.dtype": "float32",
    "model.softmax_dtype": None,
    "model.device": "cpu",
    "model.device_map": "auto",
    "model.cpu_threads": 2,
    "model.attn_implementation": "eager",
    "model.batch_size": 4,
    "model.add_bos_token": True,
    "model.pair_tokenization": "separate",
    "model.kwargs": {"x": 1},
    "model.tp_plan": "auto",
    "model.quantization": {"load_in_4bit": True},
    "model.adapter": "x",
    "model.adapter_revision": "x",
    "model.delta": "x",
    "model.gguf_file": "x",
    "model.compile": True,
}
CASES: list[Any] = [
    *(
        (option, value, [BARE], {}, [CHOICE], WITH_EXAMPLES.get(option, {}))
        for option, value in WITHOUT_EXAMPLES.items()
    ),
    *(
        (option, WITHOUT_EXAMPLES[option], [CHOICE], {"fewshot.strategy": "first_n"}, [CHOICE], {})
        for option in ("fewshot.seed", "fewshot.seeds", "fewshot.compat")
    ),
    ("fewshot.seed", 3, [CHOICE], {"fewshot.strategy": "nearest"}, [CHOICE], {"fewshot.strategy": "balanced"}),
    (
        *("fewshot.seed", 3, [CHOICE], {"fewshot.strategy": "fixed"}),
        *([CHOICE], {"fewshot.strategy": "fixed", "fewshot.order": "shuffled"}),
    ),
    ("fewshot.seed", 3, [FIRST], {}, [FIRST, CHOICE], {}),
    *((option, WITHOUT_EXAMPLES[option], [CHOICE], {}, [CHOICE], needed) for option, needed in WITH_EXAMPLES.items()),
    ("fewshot.class_field", "x", [CHOICE], {}, [CHOICE], {"fewshot.strategy": "package.module:function"}),
    ("fewshot.split", "x", [CHOICE], {"fewshot.strategy": "samples"}, [CHOICE], {}),
    *((option, value, [BARE], {}, [BARE], {"chat": True}) for option, value in CHAT.items()),
    *(
        (option, value, [ROLLING], {"chat": True}, [ROLLING, BARE], {"chat": True})
        for option, value in (PROMPT | CHAT).items()
    ),
    ("fewshot.on_pinned", "keep", [BARE], PINNED, [BARE], {**PINNED, "fewshot.n": 5}),
    ("fewshot.on_pinned", "keep", [CHOICE], {"fewshot.n": 5}, [BARE], {**PINNED, "fewshot.strategy": "fixed"}),
    ("fewshot.on_pinned", "keep", [BARE], {**PINNED, "fewshot.n": [0]}, [BARE], {**PINNED, "fewshot.n": [0, 5]}),
    ("fewshot.on_fixed", "keep", [CHOICE], {"tasks": {"toy": {"fewshot_config": None}}}, [CHOICE], FIXED),
    (
        *("fewshot.on_fixed", "keep", [ROLLING], {"tasks": {"toy": FIXED["tasks"]["toy"] | WHOLE}}),
        *([CHOICE], {"tasks": {"toy": FIXED["tasks"]["toy"] | {"output_type": "multiple_choice"}}}),
    ),
    ("prompt.choice_space", "add", [REPLY], {}, [REPLY, BARE], {}),
    ("prompt.choice_prefix", "numbers", [BARE], {"prompt.formulation": "cf"}, [BARE], {"prompt.formulation": "mcf"}),
    *((option, value, [BARE], {}, [BARE, REPLY], {"sampled": True}) for option, value in GENERATION.items()),
    *((option, GENERATION[option], [REPLY], {}, [REPLY], {"sampled": True}) for option in SAMPLING),
    ("model.think_end_token", "x", [REPLY], {"model.kind": "dummy"}, [REPLY], {}),
    ("model.think_end_token", "x", [BARE], {}, [BARE, REPLY], {}),
    ("stats.bootstrap", 10, [BARE], {}, [BARE, RESAMPLED], {}),
    ("check.documents", 4, [BARE], {}, [BARE], {"check.numerics": True}),
    ("check.near_tie", 0.1, [BARE], {}, [BARE], {"check.numerics": True}),
    ("check.most_drift", 0.2, [BARE], {}, [BARE], {"check.numerics": True}),
    ("subset.seed", 1, [BARE], {}, [BARE], {"subset.n": 2}),
    ("subset.stratify", "x", [BARE], {}, [BARE], {"subset.n": 2}),
    ("data.streaming", True, [BARE], {}, [BARE], {"limit": 2}),
    *((option, value, [BARE], {"tracker.kind": "none"}, [BARE], {}) for option, value in TRACKER.items()),
    *((option, value, [BARE], {"model.kind": "dummy"}, [BARE], {}) for option, value in MODEL.items()),
]  # fmt: skip
"""Option, value, then twice tasks and other settings: without effect, with effect."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_an_option_without_effect_is_told(case: Any) -> None:
    option, value, tasks, others, _, _ = case
    (line,) = lines(option, value, *tasks, **others)
    assert line.startswith(f"{option}: ") and line.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_the_same_option_with_an_effect_is_not(case: Any) -> None:
    option, value, _, _, tasks, others = case
    assert lines(option, value, *tasks, **others) == []


def test_every_option_of_the_rules_is_tried_under_each_of_them() -> None:
    in_rules = sorted(option for rule in RULES for option in rule.options)
    tried = {option for option, *_ in CASES}
    assert set(in_rules) == tried
    assert all(in_rules.count(option) <= [case[0] for case in CASES].count(option) for option in tried)


@pytest.mark.parametrize("option", sorted({option for rule in RULES for option in rule.options}))
def test_the_options_exist(option: str) -> None:
    assert unknown_key(option) is None
    assert not is_changed(RunConfig(), option)


@pytest.mark.parametrize("value", [0.0, None])
def test_what_switches_sampling_off_has_its_effect(value: float | None) -> None:
    assert lines("generation.temperature", value, REPLY) == []


def test_of_several_tasks_those_that_do_not_heed_an_option_are_named() -> None:
    run = Situation(config=RunConfig(), tasks=[REPLY], chat=False, sampled={"a": True, "b": False})
    run.config.generation.top_k = 3
    (line,) = without_effect(run, ["generation.top_k=3"])
    assert line == "generation.top_k: b: the likeliest token is taken; generation.do_sample=true samples."


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["fewshot.seed=3"], True),
        (["+fewshot.seed=3"], True),
        (["fewshot={seed:3}"], True),
        (["task=toy"], False),
        (["fewshot.seeds=3"], False),
    ],
    ids=["typed", "typed with +", "in a mapping", "not typed", "another that begins alike"],
)
def test_only_what_was_typed_is_told(overrides: list[str], told: bool) -> None:
    config = RunConfig()
    config.fewshot.seed = 3
    found = without_effect(Situation(config=config, tasks=[BARE], chat=False, sampled={}), overrides)
    assert bool(found) is told


def test_a_key_below_an_option_stands_for_it_and_a_group_for_what_it_sets() -> None:
    config = RunConfig()
    config.prompt.template_args, config.fewshot.strategy = {"x": 1}, "random"
    run = Situation(config=config, tasks=[BARE], chat=False, sampled={})
    first, second = without_effect(run, ["+prompt.template_args.x=1", "fewshot_strategy=random"])
    assert (first.partition(":")[0], second.partition(":")[0]) == ("fewshot.strategy", "prompt.template_args")


def test_options_of_one_reason_share_a_line() -> None:
    config = RunConfig()
    config.subset.seed, config.subset.stratify = 1, "label"
    run = Situation(config=config, tasks=[BARE], chat=False, sampled={})
    (line,) = without_effect(run, ["subset.seed=1", "subset.stratify=label"])
    assert line == "subset.seed, subset.stratify: no subset is drawn (subset.n)."


def test_a_value_that_is_the_default_says_nothing() -> None:
    assert lines("fewshot.order", "drawn", BARE) == []


def test_defaults_are_the_schemas() -> None:
    assert (default_of(ModelConfig, "dtype"), default_of(ModelConfig, "kwargs")) == ("auto", {})
