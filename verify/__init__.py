"""Is the claim true?  One claim on one run, and many claims on families of exact instances."""
