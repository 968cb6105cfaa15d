"""Names of the paper's quantities, assumptions and facts in the library of Rocq theories."""
