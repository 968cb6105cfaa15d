"""J. Liu, ECE 8101 *Nonconvex Optimization for Machine Learning*, Lecture Note 3-1, Spring 2022: federated learning.

One module for each part of the slides, in the order of the pages; inside a module, claims have the order of the slides,
and each correction follows the claim it corrects.
"""
