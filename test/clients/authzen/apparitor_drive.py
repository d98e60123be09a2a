"""Calls the AuthZEN client of apparitor. Arguments: address, environment key."""
import asyncio
import sys

from apparitor.client import AuthZENClient
from apparitor.config import ScannerConfig
from apparitor.errors import AuthZENClientError
from apparitor.models import (
    Action, BatchEvaluationRequest, EvaluationItem, EvaluationsOptions, EvaluationRequest, EvaluationSemantic, Resource, Subject,
)

from outcomes import call, tell

ADDRESS, KEY = sys.argv[1:3]
ALICE, READ, UPDATE = Subject(type="user", id="alice"), Action(name="read"), Action(name="update")
DOCUMENT = Resource(type="document", id="d1")


def client(key):
    headers = {"authorization": f"Bearer {key}"}
    return AuthZENClient(ScannerConfig(pdp_url=ADDRESS, allow_insecure_pdp=True, default_headers=headers))


async def refused(client, request):
    """Returns True if a wrong key causes an error instead of a decision."""
    try:
        await client.evaluate(request)
    except AuthZENClientError:
        return True


async def main():
    async with client(KEY) as authzen, client("wrong") as stranger:
        read = EvaluationRequest(subject=ALICE, action=READ, resource=DOCUMENT)
        update = EvaluationRequest(subject=ALICE, action=UPDATE, resource=DOCUMENT, context={"why": "a test"})
        await call("evaluate", authzen.evaluate, read, expect=lambda answer: answer.decision is True)
        await call("evaluate", authzen.evaluate, update, expect=lambda answer: answer.decision is False)
        await call("evaluate", refused, stranger, read, expect=lambda answer: answer is True)
        items = [EvaluationItem(action=action) for action in (READ, UPDATE, READ)]
        for semantic, decisions in (
            (EvaluationSemantic.EXECUTE_ALL, [True, False, True]),
            (EvaluationSemantic.DENY_ON_FIRST_DENY, [True, False]),
            (EvaluationSemantic.PERMIT_ON_FIRST_PERMIT, [True]),
        ):
            batch = BatchEvaluationRequest(
                subject=ALICE, resource=DOCUMENT, evaluations=items, options=EvaluationsOptions(evaluations_semantic=semantic),
            )
            await call(
                f"evaluate_batch ({semantic.value})", authzen.evaluate_batch, batch,
                expect=lambda answer: [one.decision for one in answer.evaluations] == decisions,
            )
    tell()


asyncio.run(main())
