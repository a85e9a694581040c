"""What pages show: view models built from rooms, and their rendering as HTML."""
