/** The end of a grant, seen from outside: nobody is allowed behind it, and the grant is removed once, by a commit that says why. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/audit.ts'
import {
  type Client,
  type Envelope,
  FACTS,
  fresh,
  question,
  sharedService,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createFolderModel()
await verdict.tenantRole('auditor', ['document:read'])

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const AUDIT = '/v2/audit-log/default/default'

async function done(service: Client, method: string, path: string, body: unknown): Promise<void> {
  const { status, body: answer } = await service.send(method, path, { body })
  expect(status, JSON.stringify(answer)).toBeLessThan(300)
}

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

const mayRead = (service: Client, user: string, key: string): Promise<boolean> =>
  service.allows(user, 'read', `document:${key}`, 'default')

async function askUntilDenied(user: string, key: string): Promise<void> {
  while (await mayRead(verdict, user, key));
}

/** Reads the list until there is nothing in it. */
async function whenGone(service: Client, path: string): Promise<void> {
  for (;;) {
    const { body } = await service.get<unknown[] | Envelope<unknown>>(path)
    if (('data' in body ? body.data : body).length === 0) return
  }
}

/** What the audit log says of grants that expired, of one user or subject. */
async function expiriesOf(service: Client, name: string) {
  const { body } = await service.get<Envelope<AuditEntry>>(`${AUDIT}?operation=expireGrants&per_page=100`)
  return body.data.filter(({ input }) => JSON.stringify(input).includes(JSON.stringify(name)))
}

test('a role assignment allows up to its end, and is removed by an entry that says expired', async () => {
  const [user, key] = fresh('ann', 'd')
  await verdict.user(user)
  const expires_at = inMs(2_000)
  const body = { user, role: 'viewer', resource_instance: `document:${key}`, tenant: 'default', expires_at }
  await done(verdict, 'POST', ASSIGNMENTS, body)
  const end = Date.parse(expires_at)
  const isAllowed = await mayRead(verdict, user, key)
  // On a slow machine the end may be past by now.
  if (Date.now() < end) expect(isAllowed).toBe(true)
  await askUntilDenied(user, key)
  expect(Date.now()).toBeGreaterThanOrEqual(end)
  await whenGone(verdict, `${ASSIGNMENTS}?user=${user}`)
  const [entry, ...others] = await expiriesOf(verdict, user)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    operation: 'expireGrants',
    api_key_id: null,
    request_id: '',
    is_input_cut: false,
  })
  expect(entry!.input).toEqual({
    cause: 'expired',
    grants: [{ user, role: 'viewer', tenant: 'default', resource_instance: `document:${key}`, expires_at }],
  })
})

test('what explains an allow says until when its grants hold', async () => {
  const [user, folder, key] = fresh('ann', 'f', 'd')
  await verdict.user(user)
  const [first, second] = [inMs(3_600_000), inMs(7_200_000)]
  await done(verdict, 'POST', ASSIGNMENTS, {
    user,
    role: 'viewer',
    resource_instance: `folder:${folder}`,
    tenant: 'default',
    expires_at: first,
  })
  await done(verdict, 'POST', TUPLES, {
    subject: `folder:${folder}`,
    relation: 'parent',
    object: `document:${key}`,
    expires_at: second,
  })
  const { body } = await verdict.post<{
    debug: { rebac: { path: { kind: string; expires_at?: string }[] } }
  }>('/allowed/explain', question(user, 'read', `document:${key}`, 'default'))
  expect(body.debug.rebac.path.map(({ kind, expires_at }) => [kind, expires_at])).toEqual([
    ['instance-role', first],
    ['derivation', second],
  ])
  await done(verdict, 'POST', ASSIGNMENTS, { user, role: 'auditor', tenant: 'default', expires_at: first })
  const { body: byTenant } = await verdict.post<{ debug: { rbac: { expires_at?: string } } }>(
    '/allowed/explain',
    question(user, 'read', `document:${key}`, 'default'),
  )
  expect(byTenant.debug.rbac.expires_at).toBe(first)
})
