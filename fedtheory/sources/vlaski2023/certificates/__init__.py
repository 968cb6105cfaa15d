"""Certificates for S. Vlaski and A. H. Sayed, chapter 5: lemmas, costs of other step sizes, and Theorem 5.1."""

from fedtheory.sources.vlaski2023.certificates import lemmas, step_sizes, theorem

CERTIFICATES = [*lemmas.CERTIFICATES, *step_sizes.CERTIFICATES, *theorem.CERTIFICATES]
