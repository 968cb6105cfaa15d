"""Proof terms: certificates in one language of about twenty rules.

A term is data.  Each rule infers its conclusion from those of its parts; only `combine` states a goal, which is
compared with the sum of its parts in normal form.  Verdicts on relations between vectors, sums of proved claims,
averages over local steps and bounds on the drift are based on terms.

term, proved    proof terms, and their conclusions
rules           the rules, each with its check
words           the rules in words
context         the declarations and hypotheses of a term, and the interpretation of its scalars
places          the contexts of claims, and those that rules enter
process         rounds and steps of a run, and the definitions of quantities
indexed         iterates by their round and step
run_form        normal forms of sums over rounds and steps
proof_of_claim  the terms of a claim's relations, and their check
shapes, codec   terms as data
tactics         translation of certificates into terms, which are then checked
checking        from a claim and its certificate to a report
explanation     terms step by step, in words
"""
