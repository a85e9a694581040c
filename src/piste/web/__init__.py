"""Tables in a browser: one process, one file of storage, friends on phones and laptops."""
