"""What a request passes before it reaches a table: guard, rate limits, fair queues, connections."""
