"""hydra-eval and other harnesses, each in a process of its own: what they do, what they cost, what they say."""
