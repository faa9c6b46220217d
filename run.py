"""`accelerate launch run.py task=gsm8k model=llama3 fewshot.n=5`: the run, from a checkout.

The installed package does the same without one: `accelerate launch -m hydra_eval …`.
"""

from hydra_eval.app import main

if __name__ == "__main__":
    main()
