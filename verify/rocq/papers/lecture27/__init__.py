"""Exports of claims about paths and intervals to Rocq; `library/Interval.v` and `library/Gaps.v` have their names."""
