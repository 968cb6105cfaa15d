"""T. Renard, *Notes on Federated Optimization*, 26 May 2022: FedAvg on convex functions.

One module for each part of the notes, in the order of the pages; inside a module, claims have the order of the notes,
and each correction follows the claim it corrects.
"""
