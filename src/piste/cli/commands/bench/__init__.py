"""`piste bench`: the speed of rules, batches, compilers, solvers, start-up and server."""
