"""The papers, a folder each with everything of it: statements, certificates, counterexamples, experiments, exhibits.

Adding a paper is adding one folder here; other chapters find what is in it, and import none by name.

Uses `proofs`, `language`, `runfile`, `engine`, `federation`, `arithmetic`, `kernel`.
"""
