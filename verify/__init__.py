"""Is the claim true?"""
