/** Limits of projects, environments and API keys per organization (`model/limits.ts`). */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { API_KEYS_MAX, ENVIRONMENTS_MAX, PROJECTS_MAX } from '#model/limits.ts'
import type { StoredRecord } from '#model/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { organizationService } from '../support/running-organization.ts'

const dated = { createdAt: 0, updatedAt: 0, name: '', description: null, settings: null }

test.each([
  {
    what: 'projects',
    kind: 'project',
    maximum: PROJECTS_MAX,
    operation: 'createProject',
    body: (key: string) => ({ key, name: key }),
    row: (id: string): StoredRecord => {
      return { kind: 'project', id, key: id, urnNamespace: null, activePolicyRepoId: null, ...dated }
    },
  },
  {
    what: 'environments',
    kind: 'environment',
    maximum: ENVIRONMENTS_MAX,
    operation: 'createEnvironment',
    body: (key: string) => ({ key, name: key }),
    row: (id: string, projectId: string): StoredRecord => {
      const states = { isBeingLoaded: false, isBegun: false, isBeingCopied: false }
      return {
        kind: 'environment',
        id,
        projectId,
        key: id,
        customBranchName: null,
        jwks: null,
        ...states,
        ...dated,
      }
    },
  },
  {
    what: 'API keys',
    kind: 'api-key',
    maximum: API_KEYS_MAX,
    operation: 'createApiKey',
    body: () => ({ object_type: 'org' }),
    row: (id: string, projectId: string): StoredRecord => {
      const rest = {
        sealedSecret: null,
        former: null,
        name: null,
        ownerType: null,
        createdBy: null,
        lastUsedAt: null,
        createdAt: 0,
      }
      return {
        kind: 'api-key',
        id,
        environmentId: null,
        projectId,
        secretHash: id,
        source: 'created',
        ...rest,
      }
    },
  },
] as const)(
  'an organization has a limited number of $what',
  async ({ what, kind, maximum, operation, body, row }) => {
    const { organization, service, principal } = await organizationService()
    const { answer } = await service.execute('listProjects', principal, { query: {} })
    const [project] = answer as { id: string }[]
    const count = () => organization.store.view.count(lists.all(kind))
    const rows = Array.from({ length: maximum - 1 - count() }, () => row(randomUUID(), project!.id))
    await organization.commits.run(records => rows.forEach(record => records.put(record)))
    const create = (key: string) =>
      service.execute(operation, principal, { params: { proj_id: 'default' }, body: body(key) })
    // Concurrent requests compete for the last slot.
    const outcomes = await Promise.allSettled(['one', 'other', 'third'].map(create))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(count()).toBe(maximum)
    await expect(create('fourth')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: `an organization has at most ${maximum} ${what}: remove some first`,
    })
  },
)
