"""What a judge's reply says, read without guessing: a verdict, or the reason why there is none."""

from service.primitives.replies.faults import ReplyFault, refuse_stop
from service.primitives.replies.labels import read_choice, read_verdict
from service.primitives.replies.reading import Read, read_object
from service.primitives.replies.scores import plain, read_score
from service.primitives.replies.twins import contradicts_itself

__all__ = [
    "Read",
    "ReplyFault",
    "contradicts_itself",
    "plain",
    "read_choice",
    "read_object",
    "read_score",
    "read_verdict",
    "refuse_stop",
]
