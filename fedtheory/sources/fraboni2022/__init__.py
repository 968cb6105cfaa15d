"""Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi: federated optimisation with asynchronous clients (2022).

Aggregation with stale models and unequal reporting.
"""
