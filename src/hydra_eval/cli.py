"""The console script `hydra-eval`."""

from __future__ import annotations

import sys

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Evaluate language models.", rich_markup_mode=None)


@app.callback()
def _root() -> None:
    """Evaluate language models."""


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    help="Run an evaluation on this process: hydra-eval run task=gsm8k model=llama3 (run --help lists the options).",
)
def run(context: typer.Context) -> None:
    """The same as `python -m hydra_eval`; for several processes use `accelerate launch -m hydra_eval`."""
    from hydra_eval.app import main as run_main

    sys.argv = ["hydra-eval run", *context.args]
    run_main()


def main() -> None:
    """Entry point of the console script."""
    app()
