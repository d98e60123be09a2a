"""Runs a fastmcp server with the middleware of permit-fastmcp. Arguments: address, environment key."""
import asyncio
import sys

from fastmcp import Client, FastMCP
from permit_fastmcp.middleware.middleware import PermitMcpMiddleware

from outcomes import call, tell

ADDRESS, KEY = sys.argv[1:3]


def server(key):
    made = FastMCP("Greetings", middleware=[PermitMcpMiddleware(permit_pdp_url=ADDRESS, permit_api_key=key)])

    @made.tool
    def greet(name: str) -> str:
        return f"Hello, {name}"

    @made.tool
    def forget(name: str) -> str:
        return f"Who is {name}?"

    return made


async def listed(key):
    async with Client(server(key)) as client:
        return sorted(tool.name for tool in await client.list_tools())


async def used(key, tool):
    async with Client(server(key)) as client:
        return (await client.call_tool(tool, {"name": "Alice"})).data


async def refused(made):
    try:
        await made
    except Exception as error:
        return "Unauthorized" in str(error)


async def main():
    await call("tools/list", listed, KEY, expect=lambda tools: tools == ["forget", "greet"])
    await call("tools/call", used, KEY, "greet", expect=lambda answer: answer == "Hello, Alice")
    await call("tools/call", refused, used(KEY, "forget"), expect=lambda answer: answer is True)
    await call("tools/list", refused, listed("wrong"), expect=lambda answer: answer is True)
    tell()


asyncio.run(main())
