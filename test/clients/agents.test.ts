/** Published packages for the authorization of agents and their tools, against a running service. */
import { test } from 'vitest'
import { expectReport } from './published.ts'
import { drive, pythonWith } from './python-environment.ts'
import { type Client, startedService } from '#testing/processes/running-service.ts'

test('the tool and the retrievers of langchain-permit work', async context => {
  const packages = ['langchain-permit==0.1.4', 'permit==2.8.3']
  const python = await pythonWith(context, 'langchain-permit-0.1.4', packages)
  // The package searches for `document:read` in the permissions of a user.
  const service = await startedService({ permissionFormat: 'resource:action' })
  await service.createDocumentModel()
  for (const user of ['alice', 'carol']) await service.user(user)
  for (const document of ['d1', 'd2']) await service.assign('alice', 'viewer', `document:${document}`)
  const report = await drive(python, 'agents/langchain_drive.py', service.address)
  const known = { PermitEnsembleRetriever: 'its constructor fails' }
  const name = 'LangChain, `langchain-permit` 0.1.4'
  expectReport({ name, suite: 'agents', file: 'agents.test.ts', known }, report)
})

test('the middleware of permit-fastmcp allows only the tools that a caller may use', async context => {
  const packages = ['permit-fastmcp==0.1.2', 'fastmcp==2.14.7', 'permit==3.0.0']
  const python = await pythonWith(context, 'permit-fastmcp-0.1.2', packages)
  const service = await startedService()
  await allowTools(service)
  const report = await drive(python, 'agents/fastmcp_drive.py', service.address)
  const name = 'MCP, `permit-fastmcp` 0.1.2'
  expectReport({ name, suite: 'agents', file: 'agents.test.ts', known: {} }, report)
})

/** Allows the client of the middleware to list tools and to use one of them. */
async function allowTools(service: Client): Promise<void> {
  await service.resource({ key: 'mcp_server', actions: { greet: {}, forget: {} } })
  await service.resource({ key: 'mcp_server_tools', actions: { list: {} } })
  await service.tenantRole('caller', ['mcp_server:greet', 'mcp_server_tools:list'])
  await service.user('client')
  await service.assign('client', 'caller', 'default')
}
