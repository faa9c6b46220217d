"""The words of Pellwick, a harbour town made up for the demo."""

from __future__ import annotations

NAMES = ("Mira", "Tobin", "Odda", "Fenn", "Lisbet", "Corin", "Yara", "Pim", "Hester", "Joss", "Nell", "Barto")
GOODS = ("shells", "pears", "candles", "buttons", "eggs", "ribbons", "bells", "stamps", "beads", "corks")
FISH = ("herring", "cod", "eels", "trout", "sprats", "salmon", "crabs", "mussels")

ADDING = (
    "{name} has {a} {good} and finds {b} more.",
    "{name} buys {a} {good} on Monday and {b} on Tuesday.",
    "{name} packs {a} {good}, then adds {b}.",
)
TAKING = (
    "{name} has {a} {good} and gives away {b}.",
    "{name} carries {a} {good} home, but drops {b}.",
    "{name} lays out {a} {good} and sells {b}.",
)

BY_WEIGHT = (
    *("ant", "bee", "moth", "beetle", "snail", "wren", "newt", "robin", "mouse", "frog", "toad", "mole", "rat"),
    *("stoat", "dove", "crow", "squirrel", "hedgehog", "owl", "duck", "heron", "hen", "hare", "cat", "goose", "fox"),
    *("otter", "swan", "badger", "lamb", "dog", "goat", "sheep", "seal", "pig", "boar", "stag", "pony", "cow", "ox"),
)
"""Animals of the town, from the lightest to the heaviest."""

LEADS = ("total", "in all", "together", "sum", "landed", "counted")
"""How a clerk begins an entry of the ledger."""
MARKS = (".", "!", ";", " fish", " head", " ok")
"""How a clerk ends it."""
CLERK_OF_THE_TASK = ("in all", " fish")
"""How the clerk of the task's data begins and ends; training draws a clerk for each run of examples."""
