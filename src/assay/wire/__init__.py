"""The wire formats of chat models: what an answer shows its reader, and how to withhold, disclose and correct."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.wire.answers import encoded as encoded
    from assay.wire.answers import has_answer as has_answer
    from assay.wire.answers import resettled as resettled
    from assay.wire.answers import settled as settled
    from assay.wire.answers import with_member as with_member
    from assay.wire.exchange import CallChecker as CallChecker
    from assay.wire.exchange import Exchange as Exchange
    from assay.wire.exchange import check_new_calls as check_new_calls
    from assay.wire.exchange import read_object as read_object
    from assay.wire.exchange import require_depth as require_depth
    from assay.wire.exchange import without_member as without_member
    from assay.wire.flow import WireFlow as WireFlow
    from assay.wire.formats.chat_completions import ChatCompletions as ChatCompletions
    from assay.wire.formats.messages import Messages as Messages
    from assay.wire.formats.responses import Responses as Responses
    from assay.wire.instructions import instructions_of as instructions_of
    from assay.wire.instructions import tools_of as tools_of
    from assay.wire.interface import FIELD as FIELD
    from assay.wire.interface import Json as Json
    from assay.wire.interface import Wire as Wire
    from assay.wire.record_parts import Part as Part
    from assay.wire.record_parts import calls_again as calls_again
    from assay.wire.record_parts import parts_of_answer as parts_of_answer
    from assay.wire.record_parts import parts_of_job as parts_of_job
    from assay.wire.record_parts import unchecked_part as unchecked_part
    from assay.wire.request_options import RequestOptions as RequestOptions
    from assay.wire.request_options import read_request_options as read_request_options
    from assay.wire.request_options import require_held as require_held
    from assay.wire.request_options import require_stakes as require_stakes
    from assay.wire.reviser import Ask as Ask
    from assay.wire.reviser import Reviser as Reviser
    from assay.wire.reviser import sends_back as sends_back
    from assay.wire.sse import comment as comment
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".answers": ("encoded", "resettled", "settled", "has_answer", "with_member"),
            ".formats.chat_completions": ("ChatCompletions",),
            ".exchange": (
                "CallChecker",
                "Exchange",
                "check_new_calls",
                "read_object",
                "require_depth",
                "without_member",
            ),
            ".flow": ("WireFlow",),
            ".instructions": ("instructions_of", "tools_of"),
            ".interface": ("FIELD", "Json", "Wire"),
            ".formats.messages": ("Messages",),
            ".record_parts": ("Part", "calls_again", "parts_of_answer", "parts_of_job", "unchecked_part"),
            ".request_options": ("RequestOptions", "read_request_options", "require_held", "require_stakes"),
            ".formats.responses": ("Responses",),
            ".reviser": ("Ask", "Reviser", "sends_back"),
            ".sse": ("comment",),
        },
    )
