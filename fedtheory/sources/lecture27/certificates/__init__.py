"""Certificates for Lecture 27, *Introduction to Federated Learning*."""

from fedtheory.sources.lecture27.certificates import published, tightened

CERTIFICATES = [*published.CERTIFICATES, *tightened.CERTIFICATES]
