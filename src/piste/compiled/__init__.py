"""The same rules in bulk: loops over any game, interpreted or compiled from one source."""
