"""Access: who a request comes from, how people sign in, and protection against requests forged in their name.

- `authentication`: the caller of a request, by the key of a program or the session of a person.
- `sign_in`: starting and ending sessions, the first administrator, changing and resetting passwords.
- `middleware`: the check of every request that may change something, and the headers of every answer.
- `passwords`, `rate_limits`, `addresses`: password hashes, rate limits, the address of a client.
- `refusals`: counts of refused requests for the audit log.
- `router`: the REST routes.
"""
