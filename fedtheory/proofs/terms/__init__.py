"""Proof terms: certificates in one language of some twenty rules.

A term is data.  Each rule infers what it proves from what its parts prove; only `combine` states a goal, which is
compared with the sum of its parts in normal form.  Verdicts on relations between vectors, sums of proved claims, means
over local steps and bounds on the drift rest on terms (`by_terms`).

term, proved    what a term is, and what it proves
rules           the rules, each with its check and its explanation
context         what a term may use where it stands, and how it is read
places          the contexts of claims, and those that rules enter
process         rounds and steps of a run, and quantities as what they measure
indexed         models by their round and step
run_form        normal forms of sums over rounds and steps, with range_sums
proof_of_claim  the terms of a claim's relations, and their check
shapes, codec   terms as data
tactics         certificates as terms; nothing is believed of what they write
checking        the way from a claim and its certificate to a report
explanation     terms step by step, for people
"""
