"""Calls the AuthZEN client of decern. Arguments: address, environment key."""
import asyncio
import sys

from decern import Client, DecernError

from outcomes import call, tell

ADDRESS, KEY = sys.argv[1:3]
ALICE, DOCUMENT = {"type": "user", "id": "alice"}, {"type": "document", "id": "d1"}


def refused():
    """Returns True if a wrong key causes an error instead of a decision."""
    try:
        Client(ADDRESS, token="wrong").evaluate(ALICE, "read", DOCUMENT)
    except DecernError as error:
        return error.status_code == 401


async def main():
    client = Client(ADDRESS, token=KEY)
    await call("evaluate", client.evaluate, ALICE, "read", DOCUMENT, expect=lambda answer: answer.allowed is True)
    update = {"name": "update", "properties": {"how": "gently"}}
    await call("evaluate", client.evaluate, ALICE, update, DOCUMENT, {"why": "a test"}, expect=lambda answer: answer.allowed is False)
    await call("evaluate", refused, expect=lambda answer: answer is True)
    tell()


asyncio.run(main())
