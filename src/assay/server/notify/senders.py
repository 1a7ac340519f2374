"""Sends one message: over HTTP to a webhook, or over SMTP."""

import asyncio
import json
import logging
import smtplib
import ssl
import time
from collections.abc import Callable
from datetime import timedelta
from email.message import EmailMessage
from typing import Final

import aiohttp

from assay.server.notify.messages import SIGNATURE, mail, payload, signed, slack_body
from assay.server.notify.settings import NotifySettings, Target
from assay.store.reviews import Message

_log = logging.getLogger("assay.server")
_MOST_READ: Final = 1_000
_JSON: Final = {"content-type": "application/json", "user-agent": "assay"}


class SendError(Exception):
    """A message was not delivered; the text contains no address and no secret."""

    def __init__(self, message: str, *, final: bool = False, wait: timedelta | None = None) -> None:
        super().__init__(message)
        self.final = final
        """Whether another attempt is pointless."""
        self.wait = wait
        """How long the recipient asks to wait before the next attempt."""


class Sender:
    """Sends messages; there is one for each process."""

    def __init__(self, settings: NotifySettings, *, seconds: Callable[[], float] = time.time) -> None:
        """Takes the settings and, for tests, the clock that dates signatures."""
        self._settings, self._seconds = settings, seconds
        self._http: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Closes all connections."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def send(self, message: Message, target: Target) -> None:
        """Sends a message.

        Raises:
            SendError: it was not delivered, or it is unknown whether it was.
        """
        match target.kind:
            case "email":
                await self._mail(message, target)
            case "slack":
                await self._post(target, slack_body(message, self._settings.console), message)
            case _:
                text = json.dumps(payload(message, self._settings.console), ensure_ascii=False, sort_keys=True)
                await self._post(target, text.encode(), message)

    async def _post(self, target: Target, body: bytes, message: Message) -> None:
        headers = {**_JSON, "idempotency-key": message.key}
        if target.secret:
            headers[SIGNATURE] = signed(body, target.secret, int(self._seconds()))
        timeout = aiohttp.ClientTimeout(total=self._settings.timeout_s)
        try:
            if self._http is None:
                self._http = aiohttp.ClientSession(trust_env=False)
            # A redirect would lead to an address that the operator did not configure.
            async with self._http.post(
                target.url, data=body, headers=headers, timeout=timeout, allow_redirects=False
            ) as answer:
                await answer.content.read(_MOST_READ)
                if 200 <= answer.status < 300:
                    return
                raise SendError(
                    f"the recipient answered {answer.status}",
                    final=answer.status in _FINAL_STATUSES,
                    wait=_retry_after(answer.headers.get("retry-after")),
                )
        except TimeoutError as error:
            raise SendError(f"the recipient did not answer within {self._settings.timeout_s:g} seconds") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise SendError(f"the recipient was not reached: {type(error).__name__}") from error

    async def _mail(self, message: Message, target: Target) -> None:
        email = mail(message, target, self._settings.console)
        try:
            refused = await asyncio.to_thread(_deliver, email, target, self._settings.timeout_s)
        except smtplib.SMTPResponseException as error:
            answer = f"the mail server answered {error.smtp_code}"
            raise SendError(answer, final=500 <= error.smtp_code < 600) from error
        except smtplib.SMTPRecipientsRefused as error:
            final = all(500 <= code < 600 for code, _ in error.recipients.values())
            raise SendError("the mail server refused the recipients", final=final) from error
        except (smtplib.SMTPException, OSError) as error:
            raise SendError(f"the mail server was not reached: {type(error).__name__}") from error
        except ValueError as error:  # such as a password or a host name that its protocol cannot carry
            raise SendError(
                f"the mail cannot be sent as it is configured: {type(error).__name__}", final=True
            ) from error
        if refused:
            # A second attempt would reach the other recipients twice.
            _log.warning("the mail server refused %d recipients of the target %s", refused, target.name)


_FINAL_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 410, 413, 415, 422})
"""Statuses after which the same message would be refused again."""


def _retry_after(header: str | None) -> timedelta | None:
    return timedelta(seconds=int(header)) if header is not None and header.isdigit() and len(header) < 7 else None


def _deliver(email: EmailMessage, target: Target, timeout_s: float) -> int:
    """Sends a mail and blocks until it is sent; returns how many of its recipients, but not all, the server refused."""
    context = ssl.create_default_context() if target.security != "none" else None
    if target.security == "tls":
        client: smtplib.SMTP = smtplib.SMTP_SSL(target.host, target.port, timeout=timeout_s, context=context)
    else:
        client = smtplib.SMTP(target.host, target.port, timeout=timeout_s)
    with client:
        if target.security == "starttls":
            client.starttls(context=context)
        if target.user:
            client.login(target.user, target.password)
        return len(client.send_message(email))
