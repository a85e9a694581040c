"""Bulk play: kernels over any game's rules, interpreted or JIT-compiled from one source."""
