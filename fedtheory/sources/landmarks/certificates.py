"""Certificates for the landmarks, which the kernel reads beside the definitions of the algorithms."""

from __future__ import annotations

from fedtheory.proofs.rest import AtRest

CERTIFICATES = [
    AtRest(claim="landmarks:fedavg.at-rest", local_step="single"),
    AtRest(claim="landmarks:scaffold.at-rest", local_step="idle"),
    AtRest(claim="landmarks:scaffnew.at-rest", local_step="idle"),
    AtRest(claim="landmarks:fedavgm.at-rest", local_step="single"),
]
