"""The typed configuration of examples and prompts; part of `hydra_eval.config.schema.RunConfig`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra_eval.config.checks import check_counts, check_names, check_word, is_count, refuse

OVERFLOW = ("drop_shots", "cut_left", "cut_middle", "skip", "error")
"""What becomes of a prompt that is longer than the model's window; see `PromptConfig.overflow`."""
LAST = ("skip", "error")
"""Policies that have an answer to every prompt; none behind them could act."""
FEWSHOT_WORDS = {
    "order": ("drawn", "reversed", "shuffled"),
    "similarity": ("tfidf", "overlap"),
    "shortfall": ("error", "allow"),
    "on_eval_split": ("warn", "error", "allow"),
    "on_pinned": ("replace", "keep"),
    "on_fixed": ("error", "keep"),
    "on_leak": ("replace", "allow"),
}
PROMPT_WORDS = {
    "no_system_role": ("merge", "drop", "error"),
    "style": ("lm_eval", "lighteval"),
    "choice_space": ("keep", "add", "strip"),
    "formulation": ("task", "cf", "mcf", "hybrid"),
    "choice_prefix": ("letters", "numbers"),
}
"""Field → the words it may be."""


@dataclass
class FewshotConfig:
    """How many examples stand before each document, and which."""

    strategy: str = "task"
    """Key of `hydra_eval.fewshot.STRATEGIES`, or `package.module:function`; `task` follows the task's own
    `fewshot_config`."""
    n: Any = None
    """Examples per document, or a list of counts, each a row of the results; default: the task's `num_fewshot`,
    else 0."""
    seed: int | None = None
    """Default: the run's `seed`."""
    seeds: Any = None
    """A list of seeds, each a row of the results, with their mean and spread; instead of `seed`."""
    order: str = "drawn"
    """Order of the examples in the prompt: as drawn, `reversed`, or `shuffled` for each document."""
    split: Any = None
    """Draw from this split, or list of splits, rather than the task's own choice."""
    class_field: str | None = None
    """Column with an example's class, for `balanced` and `one_per_class`; default: its first right answer."""
    indices: Any = None
    """Rows of the pool by number, in prompt order, for the strategy `fixed`."""
    samples: Any = None
    """Rows written out, in prompt order, for the strategy `samples`."""
    similarity: str = "tfidf"
    """What `nearest` compares questions by: tfidf (cosine) or overlap (shared words)."""
    shortfall: str = "error"
    """Where fewer other rows exist than examples are asked for: an error, or `allow` fewer, counted."""
    on_eval_split: str = "warn"
    """Where examples come from the split that is evaluated: warn, error or allow."""
    on_pinned: str = "replace"
    """A task whose YAML says `num_fewshot: 0` keeps it under `keep`; `n` wins under `replace`."""
    on_fixed: str = "error"
    """A task whose `fewshot_config` says `fixed: true` refuses another count; `keep` keeps its own and says so."""
    compat: str | None = None
    """Whose picks are repeated to the last draw: lm_eval or lighteval; default: lighteval for tasks of a
    TASKS_TABLE."""
    on_leak: str = "replace"
    """An example that is the document itself makes way for another under `replace`; `allow` keeps it."""

    def __post_init__(self) -> None:
        self._check_lists()
        if self.seed is not None and self.seeds is not None:
            refuse("fewshot.seeds", self.seeds, f"stands beside fewshot.seed={self.seed}; give one of them")
        for name, words in FEWSHOT_WORDS.items():
            check_word(f"fewshot.{name}", getattr(self, name), words)
        if self.compat is not None:
            check_word("fewshot.compat", self.compat, ("lm_eval", "lighteval"))

    def _check_lists(self) -> None:
        if isinstance(self.n, list):
            check_counts("fewshot.n", self.n, least=0)
        elif self.n is not None and not is_count(self.n, least=0):
            refuse("fewshot.n", self.n, "must be a whole number, 0 or more, or a list of them, such as [0,1,5]")
        for name in ("seeds", "indices"):
            if getattr(self, name) is not None:
                check_counts(f"fewshot.{name}", getattr(self, name), least=0)
        if self.split is not None:
            check_names("fewshot.split", self.split)


@dataclass
class PromptConfig:
    """How text becomes a prompt."""

    chat_template: Any = False
    """false: plain text; true: the tokenizer's template; auto: that, where it has one; else a template's name or a
    Jinja file."""
    system: str | None = None
    no_system_role: str = "merge"
    """Where the template refuses a system message: merge it into the first user turn, drop it (as lm-eval does), or
    error."""
    multiturn: bool = True
    """Under a chat template: each example is a turn of its own; false: one user turn holds all."""
    template_args: dict[str, Any] = field(default_factory=dict)
    """Handed to the chat template (`enable_thinking`, …)."""
    style: str = "lm_eval"
    """How the parts are joined: lm_eval or lighteval."""
    choice_space: str = "keep"
    """White space before a choice: keep (as the task has it), add (exactly one blank), strip (none under chat, the
    delimiter alone in plain text)."""
    formulation: str = "task"
    """How choice tasks ask: as the task does, cf (score the answers' texts), mcf (list them, score their labels) or
    hybrid (list them, score their texts)."""
    choice_prefix: str = "letters"
    """Labels under mcf and hybrid: letters (A, B, …) or numbers (1, 2, …)."""
    choice_orders: int = 1
    """Ask each document with its choices in so many orders; each order is a row of the results."""
    overflow: Any = "cut_left"
    """What becomes of a prompt longer than the window: drop_shots, cut_left, cut_middle, skip or error; or a list, each
    tried where the one before is not enough."""

    def __post_init__(self) -> None:
        if not isinstance(self.chat_template, bool | str) or self.chat_template == "":
            refuse("prompt.chat_template", self.chat_template, "must be true, false, auto, a template's name or a file")
        for name, words in PROMPT_WORDS.items():
            check_word(f"prompt.{name}", getattr(self, name), words)
        if not is_count(self.choice_orders, least=1):
            refuse("prompt.choice_orders", self.choice_orders, "must be a whole number from 1 on")
        policies = self.overflow if isinstance(self.overflow, list) and self.overflow else [self.overflow]
        for policy in policies:
            check_word("prompt.overflow", policy, OVERFLOW)
        if len(set(policies)) < len(policies) or any(policy in LAST for policy in policies[:-1]):
            refuse("prompt.overflow", self.overflow, "names each policy once, and skip or error only at its end")
