"""The experiments of fraboni2022 at the scale of a laptop, as exact expected curves.

The problem is least squares on handwritten digits instead of neural networks. Expected losses are computed from the
second moments of the run, not averaged over random seeds. `findings` compares the results with the published sentences.
"""
