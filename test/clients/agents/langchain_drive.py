"""Calls the parts of langchain-permit that make requests. Arguments: address, environment key."""
import asyncio
import sys

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_permit.retrievers import PermitEnsembleRetriever, PermitSelfQueryRetriever
from langchain_permit.tools import LangchainPermissionsCheckTool
from permit import Permit

from outcomes import call, tell

ADDRESS, KEY = sys.argv[1:3]
ALICE = {"key": "alice"}


class Stored(BaseRetriever):
    """Always returns the same three documents."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content=key, metadata={"id": key}) for key in ("d1", "d2", "d3")]


async def permitted_ids(user):
    retriever = PermitSelfQueryRetriever(
        api_key=KEY, pdp_url=ADDRESS, user={"key": user}, resource_type="document", action="read",
        llm=FakeListLLM(responses=[""]), vectorstore=InMemoryVectorStore(DeterministicFakeEmbedding(size=4)),
        query_constructor=FakeListLLM(responses=[""]), structured_query_translator=object(),
    )
    await retriever.initialize_allowed_ids()
    return sorted(retriever._allowed_ids)


async def retrieved(user):
    retriever = PermitEnsembleRetriever(
        api_key=KEY, pdp_url=ADDRESS, user=user, action="read", resource_type="document", retrievers=[Stored()], weights=[1.0],
    )
    return [document.metadata["id"] for document in await retriever._filter_by_permissions(Stored().invoke("any"))]


async def main():
    tool = LangchainPermissionsCheckTool(permit=Permit(token=KEY, pdp=ADDRESS))
    document = {"type": "document", "key": "d1", "tenant": "default"}
    read = {"user": ALICE, "action": "read", "resource": document}
    await call("LangchainPermissionsCheckTool", tool._arun, **read, expect=lambda answer: answer == {"allowed": True})
    update = {**read, "action": "update", "context": {"why": "a test"}}
    await call("LangchainPermissionsCheckTool", tool._arun, **update, expect=lambda answer: answer == {"allowed": False})
    await call("PermitSelfQueryRetriever", permitted_ids, "alice", expect=lambda ids: ids == ["d1", "d2"])
    await call("PermitSelfQueryRetriever", permitted_ids, "carol", expect=lambda ids: ids == [])
    await call("PermitEnsembleRetriever", retrieved, "alice", expect=lambda ids: ids == ["d1", "d2"])
    tell()


asyncio.run(main())
