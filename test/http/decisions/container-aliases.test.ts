/** Paths that scripts and charts for the commercial service call, and copies that run as tasks. */
import { expect, test } from 'vitest'
import type { Environment } from '#model/wire/organization/environment.ts'
import { ADMIN_KEY, neighbourOf, sharedService } from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const UP_TO_DATE = { status: 'ok', triggered: false }

test.each(['/data-updater/trigger', '/policy-updater/trigger'])(
  'POST %s accepts the key of an environment, with and without a body, and triggers no update',
  async path => {
    for (const body of [undefined, {}]) {
      const answer = await verdict.send('POST', path, body ? { body } : {})
      expect([answer.status, answer.body]).toEqual([200, UP_TO_DATE])
    }
    expect((await verdict.send('POST', path, { key: null })).status).toBe(401)
    expect((await verdict.admin('POST', path)).status).toBe(403)
  },
)

test.each([
  ['/healthchecks/opa/healthy', '/healthy'],
  ['/healthchecks/opa/ready', '/ready'],
  ['/healthchecks/opa/system', '/ready'],
])('GET %s returns the same response as %s, without a key', async (path, own) => {
  const alias = await verdict.send('GET', path, { key: null })
  const probe = await verdict.send('GET', own, { key: null })
  expect([alias.status, alias.body]).toEqual([200, probe.body])
})

test('the refresh of decision points succeeds if the environment exists and the key belongs to it', async () => {
  const answer = await verdict.post('/v2/pdps/default/default/refresh', {})
  expect([answer.status, answer.body]).toEqual([200, UP_TO_DATE])
  const unknown = await verdict.admin('POST', '/v2/pdps/default/nothing/refresh')
  expect(refusal(unknown)).toEqual([404, 'NOT_FOUND'])
  await neighbourOf(verdict, 'other')
  expect(refusal(await verdict.post('/v2/pdps/default/other/refresh', {}))).toEqual([403, 'FORBIDDEN_ACCESS'])
})

test('a copy that is submitted as a task is complete when the response is sent, and its result can be read again', async () => {
  await verdict.resource({ key: 'page', actions: { read: {} } })
  const tasks = '/v2/projects/default/envs/default/copy/async'
  const submit = (target_env: object, query = '') =>
    verdict.admin<{ task_id: string; result: Environment }>('POST', `${tasks}${query}`, {
      target_env,
      conflict_strategy: 'overwrite',
    })
  const made = await submit({ new: { key: 'staging', name: 'Staging' } }, '?wait=0.25')
  expect([made.status, made.body]).toEqual([
    202,
    { task_id: made.body.result.id, status: 'success', result: made.body.result, error: null },
  ])
  expect(made.body.result).toMatchObject({ key: 'staging', name: 'Staging' })
  expect(made.headers.get('x-revision')).not.toBeNull()
  await verdict.done('GET', '/v2/schema/default/staging/resources/page', undefined, ADMIN_KEY)

  const result = (id: string) => verdict.admin('GET', `${tasks}/${id}/result?wait=60`)
  const read = await result(made.body.task_id)
  expect([read.status, read.body]).toEqual([200, made.body])
  const again = await submit({ existing: 'staging' })
  expect([again.status, again.body.task_id]).toEqual([202, made.body.task_id])
  // A rejected copy returns an error instead of a task.
  expect(refusal(await submit({ existing: 'nothing' }))).toEqual([404, 'NOT_FOUND'])
  expect(refusal(await result('0197d6b4-0000-7000-8000-000000000000'))).toEqual([404, 'NOT_FOUND'])
  // Keys of environments cannot read the result of a copy.
  expect((await verdict.get(`${tasks}/${made.body.task_id}/result`)).status).toBe(403)
})
