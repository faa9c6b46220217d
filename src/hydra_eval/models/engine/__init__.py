"""How requests share their tokens: trees of prefixes, caches behind them, replies that come and go."""
