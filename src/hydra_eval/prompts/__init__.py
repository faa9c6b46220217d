"""How a document, its examples and a run's choices become the text that is sent."""
