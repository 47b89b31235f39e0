"""Judges that rate: a number on a scale, and why."""

from service.core.judging import Reply
from service.primitives.replies import ReplyFault, read_object, read_score
from service.scorers.judged.choosing import rationale, sentence
from service.scorers.judged.votes import Opinion, Vote, unread


def rated(vote: Vote, reply: Reply, scale: tuple[float, float], explains: str) -> Opinion:
    """The opinion in a reply with a score on this scale; `explains` is the key of its reasons. Ungraded without one."""
    try:
        score = read_score(reply.text if reply.fields is None else reply.fields, *scale)
    except ReplyFault as fault:
        raise unread(fault) from None
    reasons = _reasons(vote, reply, explains)
    return Opinion(score=score, told=sentence("the judge's rating", score, reasons), rationale=reasons)


def _reasons(vote: Vote, reply: Reply, explains: str) -> str:
    """What the judge said beside the score; all of a text without an object."""
    shape = {"properties": {"score": {}, explains: {"type": "string"}}, "required": ["score"]}
    try:
        found = read_object(reply.text, reply.fields, shape)
    except ReplyFault:
        return reply.text or ""
    vote.repaired = vote.repaired or found.repaired
    return rationale(found.value, explains)
