"""Filler and names, made of lists of our own; what RULER takes from essays and word lists."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from functools import cache

NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
BLOCK = 512
"""Sentences made at a time."""
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"

WORDS = {
    "qualities": """
        able airy amber ample azure bitter blunt bold brave brief bright brisk broad calm clear clever coarse cold crisp
        curly dear deep dense dim dry dull eager early even faint fair fancy firm flat fond frank fresh gentle glad
        grand gray great green hasty heavy honest humble icy idle jolly keen kind lame large late lean light lively lone
        loud loyal lucky mellow merry mild misty modest narrow neat noble odd old pale patient plain proud quick quiet
        rapid rare raw ready rich ripe rough round royal rusty salty sandy shaky sharp shiny short shy silent silver
        simple sleek slim slow smooth snowy soft
    """,
    "things": """
        acorn anchor anvil apron arrow atlas badge bakery barrel basket beacon bell bench berry blanket boat bottle bowl
        bridge brook broom bucket button cabin candle canyon castle cellar chair cherry chimney cliff clock cloud coat
        compass copper cottage cradle creek crown cup curtain desert door drawer drum engine falcon farm feather fence
        ferry field flute forest fountain garden gate glove granite hammer harbor hat hedge helmet hill hinge horn
        island jar kettle key kite ladder lake lamp lantern leaf lemon letter lily map maple marble meadow medal mill
        mirror mitten moon mountain needle nest oak oar orchard oven paddle parade parcel path pearl pebble pencil
        pepper piano pillow pine planet plum pocket pond poppy quilt raft rail reed ribbon river road robin roof rope
        saddle sail scarf shell ship shore shovel spoon stable stone stove
    """,
    "people": """
        baker beekeeper carpenter clerk cobbler cook doctor driver farmer fisher gardener guard innkeeper judge mason
        miller nurse painter pilot porter potter sailor singer smith tailor teacher tinker trader weaver widow
    """,
    "deeds": """
        bought borrowed buried carried chose cleaned counted covered described drew found guarded hid kept lifted lost
        measured mended moved noticed opened ordered packed painted praised promised repaired returned showed sold
        studied swapped wrapped
    """,
}
QUALITIES, THINGS, PEOPLE, DEEDS = (text.split() for text in WORDS.values())
TIMES = (
    "At dawn",
    "At noon",
    "At dusk",
    "Before the storm",
    "After supper",
    "During the fair",
    "In early spring",
    "In late autumn",
    "On market day",
    "On the first day of frost",
    "One quiet evening",
    "That same week",
    "Two years later",
    "When the bells rang",
)
REASONS = (
    "because nobody had asked for it",
    "because the days were growing short",
    "before anyone could object",
    "so that the children would laugh",
    "though it was hardly worth the trouble",
    "though the rain had not stopped",
    "while the neighbours looked on",
    "while the tide was still out",
    "without saying a word",
)


def sentence(rng: random.Random) -> str:
    who, deed, quality, thing, place = (rng.choice(words) for words in (PEOPLE, DEEDS, QUALITIES, THINGS, THINGS))
    return (
        f"{rng.choice(TIMES)} the {rng.choice(QUALITIES)} {who} {deed} a {quality} {thing} near the {place} "
        f"{rng.choice(REASONS)}."
    )


def prose(count: int) -> list[str]:
    """The first `count` sentences of a text without end, always the same."""
    blocks = -(-count // BLOCK)
    return [line for number in range(blocks) for line in _block(number)][:count]


@cache
def _block(number: int) -> tuple[str, ...]:
    rng = random.Random(f"prose/{number}")
    return tuple(sentence(rng) for _ in range(BLOCK))


def pair(rng: random.Random) -> str:
    """`brave-lantern`."""
    return f"{rng.choice(QUALITIES)}-{rng.choice(THINGS)}"


def number(rng: random.Random) -> str:
    """Seven digits."""
    return str(rng.randrange(10**6, 10**7))


def identifier(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def invented(rng: random.Random) -> str:
    """A word of two to four open syllables."""
    return "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(rng.choice((2, 3, 3, 4))))


def different(count: int, make: Callable[[], str]) -> list[str]:
    """`count` texts of which no two are the same."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[make()] = None
    return list(found)
