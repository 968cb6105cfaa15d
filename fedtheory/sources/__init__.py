"""The papers, one folder each: statements, certificates, counterexamples, experiments, exhibits.

A new paper is a new folder here; the other chapters discover its contents, and import no paper by name.

Uses `proofs`, `language`, `runfile`, `engine`, `federation`, `arithmetic`, `kernel`.
"""
