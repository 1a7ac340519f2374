"""The base of chat models that wrap another one."""

from assay.models.chat.interface import ChatModel


class ChatWrapper:
    """A chat model in front of another one. It changes no answer, so it has the name and digest of that model."""

    _model: ChatModel

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def digest(self) -> str:
        """The digest of the model behind."""
        return self._model.digest
