"""Export: proved claims as theorems of Rocq, with proofs from their certificates."""
