"""Certificates for Lecture 27, *Introduction to Federated Learning*."""

from fedtheory.sources.lecture27.certificates import printed, sharper

CERTIFICATES = [*printed.CERTIFICATES, *sharper.CERTIFICATES]
