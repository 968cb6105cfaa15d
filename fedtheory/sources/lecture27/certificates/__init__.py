"""Certificates for Lecture 27, *Introduction to Federated Learning*: why its proved statements hold."""

from fedtheory.sources.lecture27.certificates import printed, sharper

CERTIFICATES = [*printed.CERTIFICATES, *sharper.CERTIFICATES]
