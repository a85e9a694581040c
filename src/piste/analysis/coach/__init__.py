"""The coach: what each decision of a finished game cost, judged by what its player could know."""
