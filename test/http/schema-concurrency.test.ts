/** Several clients at one schema: of those who make the same thing one succeeds, and what is removed is mentioned by nobody. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Resource } from '#model/wire/resource.ts'
import type { TenantRole } from '#model/wire/role.ts'
import { type Answer, RESOURCES, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

const DOCUMENT = `${RESOURCES}/document`
const CLIENTS = 48

/** On lmdb, where commits take time, so that commands meet. */
const directory = mkdtempSync(join(tmpdir(), 'verdict-test-'))
// Hooks run last to first: the service is closed before this.
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const verdict = await sharedService({ httpThreads: 2, storeUrl: `lmdb:${directory}` })
await verdict.createDocumentModel()
await verdict.resource({ key: 'folder', roles: { keeper: { name: 'Keeper' } } })
await verdict.relation('document', 'parent', 'folder')

function atOnce(count: number, call: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}

function statuses(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

test('of many who create the same part, one succeeds and the others hear that it is there', async () => {
  const entry = { role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }
  const calls: [string, unknown][] = [
    [`${DOCUMENT}/actions`, { key: 'seal', name: 'Seal' }],
    [`${DOCUMENT}/action_groups`, { key: 'all', name: 'All', actions: ['read'] }],
    [`${DOCUMENT}/attributes`, { key: 'size', type: 'number' }],
    [`${DOCUMENT}/relations`, { key: 'of', name: 'Of', subject_resource: 'folder' }],
    [`${DOCUMENT}/roles`, { key: 'owner', name: 'Owner', permissions: ['read'], extends: ['viewer'] }],
    [`${DOCUMENT}/roles/viewer/implicit_grants`, entry],
    [`${SCHEMA}/roles`, { key: 'auditor', name: 'Auditor', permissions: ['document:read'] }],
    [`${SCHEMA}/users/attributes`, { key: 'level', type: 'number' }],
  ]
  for (const [path, body] of calls) {
    const answers = await atOnce(CLIENTS, () => verdict.post(path, body))
    expect(statuses(answers), path).toEqual([200, ...Array.from({ length: CLIENTS - 1 }, () => 409)])
  }
})

test('of many who PUT the same new resource, all succeed and one creates it', async () => {
  const answers = await atOnce(CLIENTS, () =>
    verdict.put(`${RESOURCES}/page`, { name: 'Page', actions: { read: {} } }),
  )
  expect(new Set(statuses(answers))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => (body as Resource).id)).size).toBe(1)
})

test('different parts of one resource all come about', async () => {
  const made = await atOnce(CLIENTS, index =>
    index % 2 === 0
      ? verdict.post(`${DOCUMENT}/actions`, { key: `a${index}`, name: 'A' })
      : verdict.post(`${DOCUMENT}/roles`, { key: `r${index}`, name: 'R', permissions: ['read'] }),
  )
  expect(new Set(statuses(made))).toEqual(new Set([200]))
  const { body } = await verdict.get<Resource>(DOCUMENT)
  const isNew = (key: string) => /^[ar]\d+$/.test(key)
  expect(Object.keys(body.actions).filter(isNew)).toHaveLength(CLIENTS / 2)
  expect(Object.keys(body.roles).filter(isNew)).toHaveLength(CLIENTS / 2)
})

test('no role keeps a permission for an action that is removed while it is given', async () => {
  await verdict.tenantRole('reviewer', [])
  for (let round = 0; round < 12; round += 1) {
    await verdict.post(`${DOCUMENT}/actions`, { key: 'sign', name: 'Sign' })
    const give = { permissions: ['document:sign'] }
    const answers = await Promise.all([
      verdict.post(`${DOCUMENT}/roles/viewer/permissions`, give),
      verdict.post(`${SCHEMA}/roles/reviewer/permissions`, give),
      verdict.delete(`${DOCUMENT}/actions/sign`),
      verdict.post(`${DOCUMENT}/roles`, { key: `new-${round}`, name: 'New', ...give }),
      verdict.patch(`${DOCUMENT}/roles/editor`, give),
    ])
    for (const { status } of answers) expect([200, 204, 404]).toContain(status)
    const { body } = await verdict.get<Resource>(DOCUMENT)
    const reviewer = await verdict.get<TenantRole>(`${SCHEMA}/roles/reviewer`)
    const held = Object.values(body.roles).flatMap(({ permissions }) => permissions)
    expect(body.actions).not.toHaveProperty('sign')
    expect(held).not.toContain('sign')
    expect(reviewer.body.permissions).toEqual([])
  }
})
