"""What every game stands on: the contract, the table, the dealer, records and positions."""
