"""What a run would do, down to the first prompt's token ids, without its model."""
