"""`python -m hydra_eval`, `accelerate launch -m hydra_eval`."""

from hydra_eval.app import main

if __name__ == "__main__":
    main()
