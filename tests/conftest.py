"""What all tests share."""

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
