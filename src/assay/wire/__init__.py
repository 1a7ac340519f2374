"""The wire formats of chat models: what an answer shows, and how to say that something was withheld."""
