"""Course 6960/5960, Lecture 27, *Introduction to Federated Learning*: distributed gradient descent under a budget.

Handwritten notes that follow S. Wang et al., "Adaptive Federated Learning in
Resource Constrained Edge Computing Systems", IEEE JSAC 2019.  One module for
each part, in the order of the pages.
"""
