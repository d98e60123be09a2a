/** Published packages that let agents and their tools ask for permission, against a running service. */
import { test } from 'vitest'
import { besideSuites, expectReport, run } from './published.ts'
import { pythonWith } from './python-environment.ts'
import { API_KEY, type Client, startedService } from '#testing/processes/running-service.ts'

const env = { PYTHONPATH: besideSuites('.'), PYTHONDONTWRITEBYTECODE: '1' }

test('langchain-permit: its tool checks, its retrievers keep what may not be seen', async context => {
  const packages = ['langchain-permit==0.1.4', 'permit==2.8.3']
  const python = await pythonWith(context, 'langchain-permit-0.1.4', packages)
  // It looks for `document:read` in the permissions of a user.
  const service = await startedService({ permissionFormat: 'resource:action' })
  await service.createDocumentModel()
  for (const user of ['alice', 'carol']) await service.user(user)
  for (const document of ['d1', 'd2']) await service.assign('alice', 'viewer', `document:${document}`)
  const drive = besideSuites('agents/langchain_drive.py')
  const report = await run(python, [drive, service.address, API_KEY], { env })
  const known = {
    PermitEnsembleRetriever: 'its constructor fails',
  }
  const name = 'LangChain, `langchain-permit` 0.1.4'
  expectReport({ name, suite: 'agents', file: 'agents.test.ts', known }, report)
})

test('permit-fastmcp: its middleware lets the tools through that a caller may use', async context => {
  const packages = ['permit-fastmcp==0.1.2', 'fastmcp==2.14.7', 'permit==3.0.0']
  const python = await pythonWith(context, 'permit-fastmcp-0.1.2', packages)
  const service = await startedService()
  await allowTools(service)
  const report = await run(python, [besideSuites('agents/fastmcp_drive.py'), service.address, API_KEY], {
    env,
  })
  const name = 'MCP, `permit-fastmcp` 0.1.2'
  expectReport({ name, suite: 'agents', file: 'agents.test.ts', known: {} }, report)
})

/** The client of the middleware may list tools, and use one of them. */
async function allowTools(service: Client): Promise<void> {
  await service.resource({ key: 'mcp_server', actions: { greet: {}, forget: {} } })
  await service.resource({ key: 'mcp_server_tools', actions: { list: {} } })
  await service.tenantRole('caller', ['mcp_server:greet', 'mcp_server_tools:list'])
  await service.user('client')
  await service.assign('client', 'caller', 'default')
}
