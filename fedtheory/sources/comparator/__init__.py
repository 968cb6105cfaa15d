"""Bounds for any comparator: FedAvg compared with an arbitrary point, with noise and dissimilarity at that point.

The results are by this project. The idea to need noise and dissimilarity only at one point is from A. Khaled, K.
Mishchenko and P. Richtarik, *Tighter Theory for Local SGD on Identical and Heterogeneous Data* (2020), who use the
optimum.
"""
