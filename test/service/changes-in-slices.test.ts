/** Changes of many parts yield between the parts, so that other requests run in between. */
import { expect, test } from 'vitest'
import type { Resumable } from '#scheduling/resumable.ts'
import { putRolesInBulk } from '#management/schema/bulk-roles.ts'
import { deleteAction } from '#management/schema/actions.ts'
import { replaceResource } from '#management/schema/resources.ts'
import { checkSchemaCeilings } from '#management/schema/schema-ceilings.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const PARTS = 200

/** Counts how often the command yields, and expects that its commit succeeds. */
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

test('replacing the relations of a resource yields at each removed and each added relation', async () => {
  const environment = await withDocument()
  const stops = await stopsOf(environment, context => replaceResource(context, document('b')))
  expect(stops).toBeGreaterThan(2 * PARTS)
})

test('counting the roles that lose a deleted action yields at each role', async () => {
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

test('assembling a commit of many rows yields between the rows', async () => {
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
