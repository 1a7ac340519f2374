"""Kinds of sentences: courtesies, questions, abstentions, opinions and statements, and their lead-ins.

A sentence is called a courtesy, an abstention or an opinion only where the whole of it is one: words that would let a
claim travel inside a courtesy go to the check.
"""
