"""S. Vlaski and A. H. Sayed, chapter 5 "Federated Learning" of a draft textbook (2023): federated averaging.

L of K agents are sampled in each round, agent k takes E_k local steps of size mu_k = mu / E_k. One module for each part
of the chapter, in the order of the pages; each correction follows the claim it corrects.
"""
