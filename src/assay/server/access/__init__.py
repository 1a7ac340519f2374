"""Access: who a request comes from, how people sign in, and what keeps others from acting in their name.

- `deciding`: the caller of a request, by the key of a program or the session of a person.
- `signing_in`: sessions begun and ended, the first administrator, passwords changed and set anew.
- `wall`: what every request passes that may change something, and the headers of every answer.
- `passwords`, `buckets`, `addresses`: hashes, limits of rate, where a request comes from.
- `router`: all of it over REST.
"""
