"""Access: who a request comes from, how people sign in, and what keeps others from acting in their name.

- `authentication`: the caller of a request, by the key of a program or the session of a person.
- `sign_in`: sessions begun and ended, the first administrator, passwords changed and set again.
- `middleware`: what every request passes that may change something, and the headers of every answer.
- `passwords`, `rate_limits`, `addresses`: hashes, limits of rate, where a request comes from.
- `router`: all of it over REST.
"""
