"""Task classes with whatever `lm_eval` there is: the installed one, or our stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.config.schema import FewshotConfig, GenerationOverrides, PromptConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import pick_shots
from hydra_eval.prompts.style import Style

from .classes import SPANS, asked, class_task, scored, write_classes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    write_classes(folder)
    return folder


def test_documents_come_from_data_root_in_their_order(folder: Path) -> None:
    task = class_task(folder, "spans")
    assert [dict(doc.row) for doc in task.docs] == SPANS
    assert {doc.split for doc in task.docs} == {"validation"}


def test_requests_of_several_kinds_as_the_class_words_them(folder: Path) -> None:
    prompt = "Text: a stone and 1 sticks\nQuestion: how many 1?\nAnswer:"
    kinds = [("generate_until", [prompt, {"until": ["\n"]}]), ("loglikelihood", [prompt, " none"])]
    assert asked(class_task(folder, "spans"), Style(), [1]) == [kinds]


def test_scores_and_metrics_are_the_classs_own(folder: Path) -> None:
    task = class_task(folder, "spans")
    assert scored(task)[3] == {"found": 1.0, "pair": (-1.5, 1)}
    assert [(m.name, m.aggregation.stderr, m.higher_is_better) for m in task.metrics] == [
        ("found", "mean", True),
        ("pair", "none", False),
    ]
    assert task.metrics[1].aggregation.combine([(1, 2), (3, 4)]) == 4


def test_what_the_results_file_says(folder: Path) -> None:
    task = class_task(folder, "spans|2")
    assert task.version == 4
    assert (task.config["task"], task.config["num_fewshot"]) == ("spans", 2)
    assert task.config["metadata"] == {"version": 4, "config_source": str(folder / "spans.yaml")}


def test_examples_do_not_depend_on_which_documents_are_asked(folder: Path) -> None:
    whole = asked(class_task(folder, "spans|2"), Style())
    backwards = asked(class_task(folder, "spans|2"), Style(), [5, 3, 0])
    assert backwards == [whole[5], whole[3], whole[0]]


def test_examples_follow_the_seed(folder: Path) -> None:
    one, other = (class_task(folder, "spans|2", fewshot=FewshotConfig(seed=seed)) for seed in (1, 2))
    assert asked(one, Style()) != asked(other, Style())


def test_the_examples_are_counted_and_left_to_the_class(folder: Path) -> None:
    task = class_task(folder, "spans|2")
    assert task.shots.n == 2
    assert set(pick_shots(task).shots) == {()}


def test_a_limit_leaves_the_first_documents(folder: Path) -> None:
    task = class_task(folder, "spans", limit=2)
    assert [doc.index for doc in task.docs] == [0, 1]
    assert len(task.all_docs) == len(SPANS)


def test_documents_that_are_no_mapping(folder: Path) -> None:
    task = class_task(folder, "echo")
    text = SPANS[2]["text"]
    assert dict(task.docs[2].row) == {"document": text}
    assert asked(task, Style(), [2]) == [[("loglikelihood_rolling", [text])]]
    assert scored(task)[2] == {"nats": -7.25, "length": len(str(text))}
    assert task.template.target(task.docs[2].row) == f" {text}"


def test_generation_options_of_the_run_are_laid_over_the_classs(folder: Path) -> None:
    task = class_task(folder, "spans", generation=GenerationOverrides(max_new_tokens=5, stop=["#"]))
    assert task.own_requests is not None
    request = task.own_requests(task.docs[0], (), Style())[0]
    assert request.generation is not None
    assert (request.generation.max_new_tokens, request.generation.stop) == (5, ("#",))
    assert request.arguments[1] == {"until": ["#"], "max_gen_toks": 5}


def test_replies_per_request(folder: Path) -> None:
    overrides = GenerationOverrides(n=3, do_sample=True, temperature=1.0)
    assert class_task(folder, "spans", generation=overrides).repeats == 3


def test_a_constructor_gets_the_yaml_and_the_models_settings(tmp_path: Path) -> None:
    write_classes(tmp_path)
    (tmp_path / "probe.py").write_text(
        "from .task import Spans\n" + "class Probe(Spans):\n"
        "    def __init__(self, config=None):\n"
        "        super().__init__()\n"
        "        raise ValueError(sorted(config.items(), key=str))\n",
        encoding="utf-8",
    )
    (tmp_path / "probe.yaml").write_text(
        "task: probe\nclass: !function probe.Probe\nrecipe: tea\nmetadata: {size: 3}\ntag: x\n", encoding="utf-8"
    )
    with pytest.raises(UserError) as caught:
        class_task(tmp_path, "probe")
    message = str(caught.value)
    assert "('recipe', 'tea'), ('task', 'probe')]" in message
    assert "('metadata', {'size': 3, 'config_source': " in message
    assert "('class', <class " in message and "'tag'" not in message
    assert f"{tmp_path}/probe.py, line 5" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class: !function task.sum_of\n", "class=<function .*> must be a class"),
        ("class: !function task.Spanz\n", "has no 'Spanz'. Did you mean 'Spans'"),
        (
            "class: !function broken.Failing\n",
            r"the class Failing cannot be made: .* Install the package 'no_such_one'",
        ),
        ("class: !function broken.Empty\n", "the class Empty has no documents to evaluate"),
        ("class: !function broken.Exiting\n", "the class Exiting cannot be made: SystemExit: 0"),
        ("class: !function broken.Odd\n", "request_type 'guess' is not known. Known: loglikelihood, "),
        ("class: !function broken.Seeing\n", "requests with images or sounds are not supported yet"),
    ],
)
def test_what_is_wrong_with_a_class_is_said_with_the_file(tmp_path: Path, content: str, message: str) -> None:
    write_classes(tmp_path)
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text(f"task: broken\n{content}", encoding="utf-8")
    with pytest.raises(UserError, match=f"(?s)broken.yaml: .*{message}"):
        asked(class_task(tmp_path, "broken"), Style())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fewshot": FewshotConfig(n=1, strategy="random")}, "fewshot_strategy=random cannot be followed"),
        ({"prompt": PromptConfig(style="lighteval")}, "prompt.style=lighteval cannot be followed"),
        ({"prompt": PromptConfig(choice_space="add")}, "prompt.choice_space=add cannot be followed"),
        ({"metrics": {"acc": {}}}, "a Python class scores its documents itself"),
    ],
    ids=["strategy", "style", "choice space", "metrics"],
)
def test_what_cannot_be_chosen_for_a_class(folder: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        class_task(folder, "spans", **changes)


def test_another_strategy_without_examples_is_no_matter(folder: Path) -> None:
    assert class_task(folder, "spans", fewshot=FewshotConfig(strategy="random")).shots.n == 0


BROKEN = """
from lm_eval.api.instance import Instance

from .task import Spans


class Failing(Spans):
    def __init__(self):
        import no_such_one


class Exiting(Spans):
    def __init__(self):
        raise SystemExit(0)


class Empty(Spans):
    def __init__(self):
        super().__init__()
        self.dataset["validation"] = []


class Odd(Spans):
    def construct_requests(self, doc, ctx, **kwargs):
        return Instance("guess", doc, (ctx,), 0)


class Seeing(Spans):
    def construct_requests(self, doc, ctx, **kwargs):
        return Instance("generate_until", doc, (ctx, {}, {"visual": []}), 0)
"""
