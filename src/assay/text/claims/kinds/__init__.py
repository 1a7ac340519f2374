"""Kinds of sentences: courtesies, questions, abstentions, opinions and statements, and their lead-ins.

A sentence is a courtesy, an abstention or an opinion only if all of it is one, so that a claim inside a courtesy is
still checked.
"""
