"""Chat models behind one small interface: adapters on the official SDKs, and what stands around them.

An adapter sends one request and reads one answer. Around it go retries, a limit on calls at once, a cache on disk and,
for each check, a budget; each of them is a chat model itself, so that they stack in any order. `Chat` in
`assay.models.chat.load` stacks them as they are meant to be.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.models.chat.interface import ChatModel as ChatModel
    from assay.models.chat.interface import ChatRequest as ChatRequest
    from assay.models.chat.interface import Choice as Choice
    from assay.models.chat.interface import Completion as Completion
    from assay.models.chat.interface import Finish as Finish
    from assay.models.chat.interface import Message as Message
    from assay.models.chat.interface import TokenLogprob as TokenLogprob
    from assay.models.chat.interface import Usage as Usage
    from assay.models.chat.load import Chat as Chat
    from assay.models.chat.load import ChatOptions as ChatOptions
    from assay.models.chat.meter import Budget as Budget
    from assay.models.chat.meter import Meter as Meter
    from assay.models.chat.meter import Price as Price
    from assay.models.chat.meter import price_of as price_of
    from assay.models.chat.providers.responses import estimate_tokens as estimate_tokens
    from assay.models.chat.replay import Replayed as Replayed
    from assay.models.chat.structured import read_structured as read_structured
    from assay.models.chat.structured import satisfies as satisfies
    from assay.models.chat.tape import joined as joined
    from assay.models.chat.tape import with_knowledge as with_knowledge
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".interface": (
                "ChatModel",
                "ChatRequest",
                "Choice",
                "Completion",
                "Finish",
                "Message",
                "TokenLogprob",
                "Usage",
            ),
            ".load": ("Chat", "ChatOptions"),
            ".meter": ("Budget", "Meter", "Price", "price_of"),
            ".providers.responses": ("estimate_tokens",),
            ".replay": ("Replayed",),
            ".structured": ("read_structured", "satisfies"),
            ".tape": ("joined", "with_knowledge"),
        },
    )
