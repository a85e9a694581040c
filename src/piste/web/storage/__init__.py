"""What the server keeps: schema, storage, migrations."""
