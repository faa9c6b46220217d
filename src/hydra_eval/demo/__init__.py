"""The bundled demo: a made-up harbour town, three tasks about it (`tasks/demo`) and the tiny model trained for them."""
