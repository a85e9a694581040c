"""The games as learners have them."""
