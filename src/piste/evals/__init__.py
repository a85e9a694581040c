"""Evaluations of language models on Inspect: what each decision cost, against values that are known exactly."""
