/**
 * A grant that is made, moved or removed as it was seen rests on its row: whoever changes that between the look and the commit makes it
 * run again, and nobody else does.
 */
import { expect, test } from 'vitest'
import type { WriteContext } from '#management/commands/context.ts'
import { isResumable } from '#management/commands/resumable.ts'
import type { GrantCondition } from '#management/commands/wanted-tags.ts'
import { writeOperations } from '#management/environment/operations.ts'
import { runAtOnce } from '#model/resumable.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const NEW: GrantCondition = { tags: null, isNew: true }
const LASTING: GrantCondition = { tags: ['"null"'], isNew: false }

const params = { group_instance_key: 'team', user_id: 'ann' }
const lasting = { params, body: { tenant: 'default' } }
const ending = { params, body: { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' } }

async function opened(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  for (const key of ['ann', 'bob']) await environment.execute('createUser', { body: { key } })
  await environment.execute('createGroup', { body: { group_instance_key: 'team', group_tenant: 'default' } })
  return environment
}

/** Whether what is drafted under the condition goes through, if `others` come between its look and its commit. */
async function goesThrough(
  environment: RunningEnvironment,
  grantCondition: GrantCondition,
  command: (context: WriteContext) => unknown,
  others: () => Promise<unknown>,
): Promise<boolean> {
  const { work, commit } = environment.attempt(context => command({ ...context, grantCondition }))
  if (isResumable(work)) runAtOnce(work)
  await others()
  return commit()
}

const join = (context: WriteContext) => writeOperations.addGroupMember(context, ending)
const leave = (context: WriteContext) =>
  writeOperations.removeGroupMember(context, { params, body: undefined })

test('a new membership goes through only if nobody has made it meanwhile', async () => {
  const environment = await opened()
  const other = () => environment.execute('addGroupMember', lasting)
  expect(await goesThrough(environment, NEW, join, other)).toBe(false)
  await environment.execute('removeGroupMember', { params, body: undefined })
  expect(await goesThrough(environment, NEW, join, async () => {})).toBe(true)
})

test('another end, and a removal, go through only if the end is the one that was seen, and the membership the same', async () => {
  const environment = await opened()
  const again = async () => {
    await environment.execute('removeGroupMember', { params, body: undefined })
    await environment.execute('addGroupMember', lasting)
  }
  const moved = () => environment.execute('addGroupMember', ending)
  for (const command of [join, leave]) {
    for (const other of [again, moved]) {
      await environment.execute('addGroupMember', lasting)
      expect(await goesThrough(environment, LASTING, command, other)).toBe(false)
    }
    await environment.execute('addGroupMember', lasting)
    expect(await goesThrough(environment, LASTING, command, async () => {})).toBe(true)
  }
})

test('others who join and leave the same group meanwhile hold nobody back', async () => {
  const environment = await opened()
  const ofBob = { group_instance_key: 'team', user_id: 'bob' }
  const elsewhere = async () => {
    await environment.execute('addGroupMember', { params: ofBob, body: { tenant: 'default' } })
    await environment.execute('removeGroupMember', { params: ofBob, body: undefined })
  }
  expect(await goesThrough(environment, NEW, join, elsewhere)).toBe(true)
  expect(await goesThrough(environment, { tags: 'any', isNew: false }, leave, elsewhere)).toBe(true)
})
