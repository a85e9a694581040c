"""The coach: what each decision of a finished game cost, evaluated by what its player could know."""
