/** Changes of many parts at once stop on their way, so that others come in between: no part of them is done for all in one go. */
import { expect, test } from 'vitest'
import type { Resumable } from '#model/resumable.ts'
import { putRolesInBulk } from '#management/schema/bulk-roles.ts'
import { deleteAction } from '#management/schema/actions.ts'
import { replaceResource } from '#management/schema/resources.ts'
import { checkSchemaCeilings } from '#management/schema/schema-ceilings.ts'
import type { WriteContext } from '#management/commands/context.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const PARTS = 200

/** How often it stops, and whether it could be committed then. */
async function stopsOf(
  environment: RunningEnvironment,
  command: (context: WriteContext) => Resumable<unknown>,
) {
  const { work, commit } = environment.attempt(function* (context) {
    yield* command(context)
  })
  let stops = 0
  while (!work.next().done) stops += 1
  expect(await commit()).toBe(true)
  return stops
}

const relations = (prefix: string) =>
  Object.fromEntries(Array.from({ length: PARTS }, (_, n) => [`${prefix}${n}`, 'document']))

const document = (prefix: string) => ({
  params: { resource_id: 'document' },
  body: { name: 'D', actions: { read: {} }, relations: relations(prefix) },
})

const roles = {
  body: {
    operations: Array.from({ length: PARTS }, (_, n) => ({
      key: `r${n}`,
      name: 'R',
      permissions: ['document:read'],
    })),
  },
}

async function withDocument(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  await environment.execute('replaceResource', document('a'))
  return environment
}

test('the relations of a resource: at each that goes, and at each that comes', async () => {
  const environment = await withDocument()
  const stops = await stopsOf(environment, context => replaceResource(context, document('b')))
  expect(stops).toBeGreaterThan(2 * PARTS)
})

test('what is counted of roles that an action is taken from: at each', async () => {
  const environment = await withDocument()
  await environment.execute('putRolesInBulk', roles)
  const input = { params: { resource_id: 'document', action_id: 'read' } }
  const stops = await stopsOf(environment, function* (context) {
    yield* deleteAction(context, input)
    let counted = 0
    for (const _ of checkSchemaCeilings(context)) counted += 1
    expect(counted).toBeGreaterThanOrEqual(PARTS)
  })
  expect(stops).toBeGreaterThan(PARTS)
})

test('a commit of many rows: between them, when it is put together', async () => {
  const environment = await withDocument()
  const { work, commit } = environment.attempt(function* (context) {
    yield* putRolesInBulk(context, roles)
    let stops = 0
    const steps = context.records.commitInSlices(new Uint8Array(16))
    while (!steps.next().done) stops += 1
    expect(stops).toBeGreaterThan(PARTS / 64)
  })
  while (!work.next().done);
  expect(await commit()).toBe(true)
})
