"""The experiments of fraboni2022 at the scale of a laptop, as exact expected curves.

Least squares on handwritten digits in place of neural networks: no expected
loss here is a mean over random seeds, each one is computed from the second
moments of the run.  `findings` compares what comes out with what is printed.
"""
