"""The tables of a server: one room, the registry of rooms, the service, the bots at them."""
