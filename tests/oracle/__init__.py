"""A brute-force reference for `portent check`, written from the contract alone (see README.md)."""
