/** `verdict watch` prints a line per change, and continues after lost connections and restarts. */
import { expect, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  FACTS,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { verdictCommand } from './command-line.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.instance('document:plan')

function watch(args: readonly string[], { key = API_KEY, url = verdict.address } = {}) {
  return verdictCommand(['watch', ...args], { env: { VERDICT_URL: url, VERDICT_KEY: key } })
}

test('verdict watch prints each change as a line of text or JSON', async () => {
  const since = await verdict.revision()
  await verdict.user('carol')
  await verdict.assign('carol', 'editor', 'document:plan')
  await verdict.delete(`${FACTS}/users/carol`)
  const human = await watch(['--since', since, '--count', '3', '--output', 'table'])
  expect(human.code).toBe(0)
  const lines = human.stdout
    .trimEnd()
    .split('\n')
    .map(line => line.replace(/^\S+ \S+ +/u, ''))
  expect(lines).toEqual([
    'user.created                 carol  (createUser)',
    'role_assignment.created      carol editor on document:plan  (createRoleAssignment)',
    'user.deleted                 carol  with 1 role assignments  (deleteUser)',
  ])
  const told = await watch(['--since', since, '--count', '1', '--kinds', 'role_assignment.created'])
  expect(JSON.parse(told.stdout)).toMatchObject({ kind: 'role_assignment.created', item: { user: 'carol' } })
})

test.each(['0', '-1', '1.5', 'x'])('verdict watch rejects --count %s', async count => {
  const { code, stderr } = await watch([`--count=${count}`])
  expect([code, stderr]).toEqual([2, expect.stringContaining('--count')])
})

test('verdict watch --effective prints one line for the access changes of each commit', async () => {
  await verdict.users('dora', 'emil')
  await verdict.instance('document:memo')
  await verdict.tenantRole('reader', ['document:read'])
  const watching = watch(['--effective', 'document:read', '--count', '3', '--output', 'table'])
  // The connection time is unknown, so the changes are repeated until the command ends.
  const grant = { user: 'dora', role: 'editor', resource_instance: 'document:memo', tenant: 'default' }
  const state = { isOver: false }
  const over = watching.finally(() => {
    state.isOver = true
  })
  while (!state.isOver) {
    await verdict.post(`${FACTS}/role_assignments`, grant)
    await verdict.send('DELETE', `${FACTS}/role_assignments`, { body: grant })
    await verdict.post(`${FACTS}/role_assignments`, { user: 'emil', role: 'reader', tenant: 'default' })
    await verdict.send('DELETE', `${FACTS}/role_assignments`, {
      body: { user: 'emil', role: 'reader', tenant: 'default' },
    })
  }
  const { code, stdout } = await over
  expect(code).toBe(0)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => line.replace(/^\S+ \S+ +access\.changed +/u, ''))
  expect(lines.length).toBe(3)
  // If the first change is made before the stream is live, the command reports the scope to list again.
  const known = [
    'document:read  list again: user dora  (createRoleAssignment)',
    'document:read  list again: user dora  (deleteRoleAssignment)',
    'document:read  +dora memo  (createRoleAssignment)',
    'document:read  -dora memo  (deleteRoleAssignment)',
    'document:read  list again: user emil  (createRoleAssignment)',
    'document:read  list again: user emil  (deleteRoleAssignment)',
    'document:read  list again: user emil tenant default  (createRoleAssignment)',
    'document:read  list again: user emil tenant default  (deleteRoleAssignment)',
  ]
  expect(lines.filter(line => !known.includes(line))).toEqual([])
})

test('verdict watch continues after a restart of the service without missing changes', async () => {
  const settings = { port: await freePort(), storeUrl: `lmdb:${storeDirectory()}` }
  const first = await startedService(settings)
  const watching = watch(['--since', await first.revision(), '--kinds', 'user', '--count', '2'], {
    url: first.address,
  })
  await first.user('before')
  await first.close()
  const second = await startedService(settings)
  await second.user('after')
  const { code, stdout, stderr } = await watching
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).item.key),
  ).toEqual(['before', 'after'])
  expect(code).toBe(0)
  expect(stderr).toContain('reconnecting')
})

test('verdict watch reports a gap in the changes with exit code 1', async () => {
  const [epoch] = (await verdict.revision()).split('.')
  const watching = watch(['--since', `${epoch}.1000000`, '--count', '1'])
  const ended = watching.then(() => true)
  // The first change after the reset ends the command.
  while (!(await Promise.race([ended, verdict.user(crypto.randomUUID()).then(() => false)])));
  const { code, stdout, stderr } = await watching
  expect(stderr).toContain('history_replaced')
  expect([code, stdout.split('\n').length]).toEqual([1, 3])
})

test.each([
  ['an unknown kind', ['--kinds', 'nobody'], {}, 3],
  ['an invalid --since', ['--since', 'x'], {}, 3],
  ['an unknown key', [], { key: 'nobody' }, 3],
  ['a missing environment', [], { key: ADMIN_KEY }, 2],
  ['an unreachable service', [], { url: 'http://127.0.0.1:1' }, 3],
] as const)('%s ends verdict watch', async (_, args, options, code) => {
  expect((await watch(args, options)).code).toBe(code)
})
