/** Copies of environments on a store that several nodes have open: which of them a node that starts may remove. */
import { expect, onTestFinished, test } from 'vitest'
import { COPY_MS_MAX } from '#model/limits.ts'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import { addEnvironment } from '#management/organization/environments.ts'
import { Organization } from '#management/organization/organization.ts'
import { OrganizationService } from '#management/organization/organization-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import type { Ledger } from '#store/ledger.ts'
import { notWritten } from '#store/not-written-error.ts'
import { openStore } from '#store/open-store.ts'
import { surroundingsWith } from '../support/surroundings.ts'

const KEYS = { apiKey: 'a-configured-key-for-tests', adminApiKey: null }
const principal = { kind: 'organization', keyId: null, organizationId: '' } as const
const body = { key: 'live', name: 'Live' }
const params = { proj_id: 'default' }

/** A node that makes a copy, and the start of another one on the same store. */
async function twoNodes() {
  const store = await openStore('memory:', listRule)
  onTestFinished(() => store.close())
  let now = 1_000_000
  const surroundings = surroundingsWith({ now: () => now })
  const secrets = new ApiKeySecrets(null)
  const organizationStore = await store.environment('organization')
  const open = (on = organizationStore) => new Organization(on, surroundings, secrets)
  const organization = open()
  await organization.bootstrap(KEYS, { isShared: true, isAlone: false })
  const whenInForce = () => Promise.resolve()
  const options = {
    organization,
    surroundings,
    secrets,
    keyOverlapSeconds: 0,
    closureOf: () => null,
    lastUseOf: () => null,
    whenInForce,
  }
  const service = new OrganizationService(options)
  const { answer } = await service.commit(principal, context =>
    addEnvironment(context, { params, body }, { isBeingCopied: true }),
  )
  const { id } = answer
  return {
    service,
    id,
    startAnother: (node: { readonly isShared: boolean }) =>
      open().bootstrap(KEYS, { ...node, isAlone: false }),
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
      return full.bootstrap(KEYS, { isShared: false, isAlone: false })
    },
    wait: (milliseconds: number) => (now += milliseconds),
    hidden: () =>
      organization.environments().flatMap(({ isHidden, scope }) => (isHidden ? [scope.environmentId] : [])),
    removed: () => organization.removedEnvironmentIds(),
  }
}

test('one that another node may be making is left alone until it has taken longer than it may', async () => {
  const nodes = await twoNodes()
  nodes.wait(COPY_MS_MAX)
  await nodes.startAnother({ isShared: true })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[nodes.id], []])
  nodes.wait(1)
  await nodes.startAnother({ isShared: true })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('one that nobody else can be making is removed by the next start', async () => {
  const nodes = await twoNodes()
  await nodes.startAnother({ isShared: false })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('one that a start on a full disk cannot remove is left for the next start, and keeps no start from deciding', async () => {
  const nodes = await twoNodes()
  await nodes.startOnFullDisk()
  expect([nodes.hidden(), nodes.removed()]).toEqual([[nodes.id], []])
  await nodes.startAnother({ isShared: false })
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
})

test('its key is taken while it is being made, and given to the next who asks when it is abandoned', async () => {
  const nodes = await twoNodes()
  const create = () => nodes.service.execute('createEnvironment', principal, { params, body })
  await expect(create()).rejects.toMatchObject({ code: 'DUPLICATE_ENTITY' })
  nodes.wait(COPY_MS_MAX + 1)
  const made = (await create()).answer as { readonly id: string }
  expect(made.id).not.toBe(nodes.id)
  expect([nodes.hidden(), nodes.removed()]).toEqual([[], [nodes.id]])
  const listed = await nodes.service.execute('listEnvironments', principal, { params, query: {} })
  expect(listed.answer).toMatchObject([{ key: 'default' }, { id: made.id }])
})
