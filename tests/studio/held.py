"""A model that is being asked: the moment in which a test kills, cancels or edits something."""

import threading

from loopwright.testing import Slow
from loopwright.testing.steps import EndpointStep


class Held:
    """A step of the endpoint that says when its request came, and waits until it is let go."""

    def __init__(self, step: EndpointStep) -> None:
        self.arrived = threading.Event()
        self.slow = Slow(step)

    def __call__(self, body: object) -> Slow:
        self.arrived.set()
        return self.slow
