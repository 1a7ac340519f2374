"""Chat models behind one small interface: adapters on the official SDKs, and what stands around them.

An adapter sends one request and reads one answer. Around it go retries, a limit on calls at once, a cache on disk and,
for each check, a budget; each of them is a chat model itself, so that they stack in any order. `Chat` in
`assay.models.chat.load` stacks them as they are meant to be.
"""
