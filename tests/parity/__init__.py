"""Does hydra-eval say what lm-evaluation-harness 0.4.13 says, on the same rows and the same weights?"""
