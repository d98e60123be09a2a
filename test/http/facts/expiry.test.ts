/** Expiration of a grant over HTTP: decisions ignore it afterwards, and one audited commit removes it. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { type Envelope, FACTS, fresh, question, sharedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createFolderModel()
await verdict.tenantRole('auditor', ['document:read'])

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const AUDIT = '/v2/audit-log/default/default'

async function create(path: string, body: object): Promise<void> {
  const { status, body: answer } = await verdict.post(path, { tenant: 'default', ...body })
  expect(status, JSON.stringify(answer)).toBeLessThan(300)
}

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

const mayRead = (user: string, key: string): Promise<boolean> =>
  verdict.allows(user, 'read', `document:${key}`, 'default')

/** Reads the list until it is empty. */
async function whenEmpty(path: string): Promise<void> {
  while ((await verdict.get<unknown[]>(path)).body.length > 0);
}

/** Audit entries about expired grants of one user or subject. */
async function expirationsOf(name: string) {
  const { body } = await verdict.get<Envelope<AuditEntry>>(`${AUDIT}?operation=expireGrants&per_page=100`)
  return body.data.filter(({ input }) => JSON.stringify(input).includes(JSON.stringify(name)))
}

test('a role assignment allows until it expires, and the audit entry of its removal states the cause', async () => {
  const [user, key] = fresh('ann', 'd')
  await verdict.user(user)
  const expires_at = inMs(2_000)
  const grant = { user, role: 'viewer', resource_instance: `document:${key}`, tenant: 'default', expires_at }
  await create(ASSIGNMENTS, grant)
  const end = Date.parse(expires_at)
  const isAllowed = await mayRead(user, key)
  // On a slow machine, the assignment might have expired.
  if (Date.now() < end) expect(isAllowed).toBe(true)
  while (await mayRead(user, key));
  expect(Date.now()).toBeGreaterThanOrEqual(end)
  await whenEmpty(`${ASSIGNMENTS}?user=${user}`)
  const [entry, ...others] = await expirationsOf(user)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    operation: 'expireGrants',
    api_key_id: null,
    actor: null,
    request_id: '',
    is_input_cut: false,
  })
  expect(entry!.input).toEqual({ cause: 'expired', grants: [grant] })
})

test('the explanation of an allow has the expiration times of its grants', async () => {
  const [user, folder, key] = fresh('ann', 'f', 'd')
  await verdict.user(user)
  const [first, second] = [inMs(3_600_000), inMs(7_200_000)]
  const instance = `folder:${folder}`
  const object = `document:${key}`
  await create(ASSIGNMENTS, { user, role: 'viewer', resource_instance: instance, expires_at: first })
  await create(TUPLES, { subject: instance, relation: 'parent', object, expires_at: second })
  const explained = async <Debug>(): Promise<Debug> => {
    const { body } = await verdict.post('/allowed/explain', question(user, 'read', object, 'default'))
    return (body as { debug: Debug }).debug
  }
  const { rebac } = await explained<{ rebac: { path: { kind: string; expires_at?: string }[] } }>()
  expect(rebac.path.map(({ kind, expires_at }) => [kind, expires_at])).toEqual([
    ['instance-role', first],
    ['derivation', second],
  ])
  await create(ASSIGNMENTS, { user, role: 'auditor', expires_at: first })
  const { rbac } = await explained<{ rbac: { expires_at?: string } }>()
  expect(rbac.expires_at).toBe(first)
})
