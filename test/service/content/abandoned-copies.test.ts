/** Unfinished copies of environments, which a starting node removes if no other node can be copying. */
import { expect, test } from 'vitest'
import { COPY_MS_MAX } from '#model/limits.ts'
import { addEnvironment } from '#management/organization/environments.ts'
import type { Ledger } from '#store/ledger.ts'
import { notWritten } from '#store/not-written-error.ts'
import { ORGANIZATION_KEYS, organizationService } from '../../support/running-organization.ts'

const body = { key: 'live', name: 'Live' }
const params = { proj_id: 'default' }

/** Starts a node that is copying an environment. Returns functions that start another node on its store. */
async function twoNodes() {
  let now = 1_000_000
  const { service, principal, organization, organizationStore, open } = await organizationService('memory:', {
    runtime: { now: () => now },
  })
  const { answer } = await service.commit(principal, context =>
    addEnvironment(context, { params, body }, { isBeingCopied: true }),
  )
  const { id } = answer
  return {
    service,
    principal,
    id,
    startAnother: (node: { readonly isShared: boolean }) =>
      open().bootstrap(ORGANIZATION_KEYS, { ...node, isAlone: false }),
    startOnFullDisk: () => {
      const { ledger } = organizationStore
      const refusing: Ledger = {
        head: () => ledger.head(),
        rows: () => ledger.rows(),
        feed: after => ledger.feed(after),
        replay: after => ledger.replay(after),
        commit: () => Promise.reject(notWritten('no space is left', null)),
      }
      const full = open({ ...organizationStore, ledger: refusing })
      return full.bootstrap(ORGANIZATION_KEYS, { isShared: false, isAlone: false })
    },
    wait: (milliseconds: number) => (now += milliseconds),
    hidden: () =>
      organization.environments().flatMap(({ isHidden, scope }) => (isHidden ? [scope.environmentId] : [])),
    removed: () => organization.removedEnvironmentIds(),
  }
}

test('a node that starts keeps an unfinished copy on a shared store until the copy exceeds its time limit', async () => {
  const nodes = await twoNodes()
  nodes.wait(COPY_MS_MAX)
  await nodes.startAnother({ isShared: true })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[nodes.id], []])
  nodes.wait(1)
  await nodes.startAnother({ isShared: true })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('a node that starts on a store that it does not share removes an unfinished copy', async () => {
  const nodes = await twoNodes()
  await nodes.startAnother({ isShared: false })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('a start on a full disk succeeds without removing an unfinished copy, and the next start removes it', async () => {
  const nodes = await twoNodes()
  await nodes.startOnFullDisk()
  expect([nodes.hidden(), nodes.removed()]).toEqual([[nodes.id], []])
  await nodes.startAnother({ isShared: false })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('the key of an unfinished copy can be used again only after the copy exceeds its time limit', async () => {
  const nodes = await twoNodes()
  const create = () => nodes.service.execute('createEnvironment', nodes.principal, { params, body })
  await expect(create()).rejects.toMatchObject({ code: 'DUPLICATE_ENTITY' })
  nodes.wait(COPY_MS_MAX + 1)
  const made = (await create()).answer as { readonly id: string }
  expect(made.id).not.toBe(nodes.id)
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
  const listed = await nodes.service.execute('listEnvironments', nodes.principal, { params, query: {} })
  expect(listed.answer).toMatchObject([{ key: 'default' }, { id: made.id }])
})
