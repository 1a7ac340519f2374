"""What every chat model in front of another one has."""

from assay.models.chat.interface import ChatModel


class ChatWrapper:
    """A chat model in front of another one, whose name and digest it has: it changes no answer."""

    _model: ChatModel

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def digest(self) -> str:
        """The digest of the model behind."""
        return self._model.digest
