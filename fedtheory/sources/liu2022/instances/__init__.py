"""Families of instances for second moments and linear speed-up."""
