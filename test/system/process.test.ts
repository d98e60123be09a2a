/** A process of the service is started, killed, started again and stopped. */
import { expect, test } from 'vitest'
import { Client, FACTS, question, storeDirectory } from '#testing/processes/running-service.ts'
import { processWith } from '../support/processes/started-process.ts'

test('a process keeps acknowledged writes when it is killed, and shuts down cleanly on SIGINT and SIGTERM', async () => {
  const cwd = storeDirectory()
  const first = processWith({}, { cwd })
  const [, key] = await first.stdoutMatch(/API key, shown only once: (\S+)/)
  const ask = async (address: string) => {
    const body = question('alice', 'read', 'document:welcome')
    return (await Client.at(address).send('POST', '/allowed', { key: key!, body })).body
  }
  expect(await ask(await first.address())).toMatchObject({ allow: true })
  const users = { key: key!, body: { key: 'zoe' } }
  expect((await Client.at(await first.address()).send('POST', `${FACTS}/users`, users)).status).toBe(200)
  expect(await first.end('SIGKILL')).toBeNull()

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const next = processWith({}, { cwd })
    const address = await next.address()
    expect(next.stdout).not.toContain('API key')
    expect(await ask(address)).toMatchObject({ allow: true })
    const found = await Client.at(address).send('GET', `${FACTS}/users/zoe`, { key: key! })
    expect(found.body).toMatchObject({ key: 'zoe' })
    expect(await next.end(signal)).toBe(0)
    expect(next.stderr).toContain(`"signal":"${signal}"`)
    expect(next.stderr).toContain('"msg":"stopped"')
  }
})
