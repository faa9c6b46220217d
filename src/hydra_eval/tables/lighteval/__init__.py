"""What task files import from lighteval, for machines without it: written anew, same names and meanings (0.13).

`hydra_eval.tables.serving` says which of lighteval's modules each file here answers for.
"""
