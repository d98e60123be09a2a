/** Explanations of native decisions with `DEBUG_DECISIONS` (native.md A.2, D-20; authzen.md section 6). */
import { expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS, evaluation, PERMIT, textOf } from '../../support/calls/access-requests.ts'
import { question, sharedService } from '#testing/processes/running-service.ts'

interface Part {
  readonly allow: boolean
  readonly code: string
  readonly reason: string
  readonly allowing_roles: readonly string[]
}

interface Debugged {
  readonly allow: boolean
  readonly result: boolean
  readonly debug: {
    readonly request: unknown
    readonly rbac: Part
    readonly rebac: Part & { readonly path: readonly object[] }
  }
  readonly query: unknown
}

const open = await sharedService({ hasDebug: true })
const silent = await sharedService()
for (const client of [open, silent]) {
  await client.createDocumentModel()
  await client.tenant('acme')
  await client.tenantRole('reader', ['document:read'])
  await client.tenantRole('empty', [])
  await client.users('alice', 'bob', 'carol', 'dave')
  await client.assign('alice', 'viewer', 'document:d1')
  await client.assign('bob', 'reader', 'default')
  await client.assign('dave', 'empty', 'acme')
  await client.instance('document:a1', 'acme')
  await client.group('team')
  await client.join('team', 'carol')
  await client.grant('team', 'editor', 'document:d1')
}

async function explained(user: string, action: string, on: string, tenant?: string): Promise<Debugged> {
  const body = question(user, action, on, tenant)
  const answer = await open.done<Debugged>('POST', '/allowed', body)
  const { allow, result, debug } = answer
  expect(result).toBe(allow)
  expect(debug.rbac.allow || debug.rebac.allow).toBe(allow)
  // A bulk returns the same explanation.
  const bulk = await open.post<{ allow: Debugged[] }>('/allowed/bulk', [body])
  expect(bulk.body.allow).toEqual([answer])
  return answer
}

test('with DEBUG_DECISIONS, an allow by a tenant role contains the role and the evaluated query', async () => {
  const body = {
    user: { key: 'bob', attributes: { level: 3 }, unknown: 1 },
    action: 'read',
    resource: { type: 'document', key: 'd1', attributes: { open: true } },
  }
  const answer = await open.post<Debugged>('/allowed', body)
  expect(answer.body).toEqual({
    allow: true,
    result: true,
    debug: {
      request: {
        user: { key: 'bob', synced: true, attributes: { level: 3 } },
        tenant: 'default',
        action: 'read',
        resource: { type: 'document', key: 'd1', attributes: { open: true } },
      },
      rbac: {
        allow: true,
        code: 'allow',
        reason: expect.stringContaining('reader'),
        allowing_roles: ['reader'],
      },
      rebac: {
        allow: false,
        code: 'no_graph_roles',
        reason: expect.any(String),
        allowing_roles: [],
        path: [],
      },
      abac: {
        allow: false,
        code: 'disabled',
        reason: 'the environment has no rules',
        allowing_rules: [],
      },
    },
    query: body,
  })
})

test('with DEBUG_DECISIONS, an allow by instance roles contains the path of facts', async () => {
  const { debug } = await explained('carol', 'update', 'document:d1')
  expect(debug.rbac).toMatchObject({ allow: false, code: 'no_user_roles' })
  expect(debug.rebac).toMatchObject({ allow: true, code: 'allow', allowing_roles: ['editor'] })
  expect(debug.rebac.path).toMatchObject([
    { kind: 'instance-role', instance: { type: 'group', key: 'team' }, role: 'member' },
    { kind: 'derivation', subject: { key: 'team' }, object: { type: 'document', key: 'd1' }, role: 'editor' },
  ])
  expect((await explained('alice', 'read', 'document:d1')).debug.rebac.path).toHaveLength(1)
})

test.each([
  ['no_such_resource', 'no_such_resource', 'stranger', 'fly', 'castle:c1', 'nowhere'],
  ['no_such_action', 'no_such_action', 'stranger', 'fly', 'document:d1', 'nowhere'],
  ['no_such_tenant', 'no_such_tenant', 'stranger', 'read', 'document:other', 'nowhere'],
  ['user_not_synced', 'user_not_synced', 'stranger', 'read', 'document:d1', undefined],
  ['no_permission', 'no_permission', 'alice', 'read', 'document:a1', 'default'],
  ['no_user_roles', 'no_permission', 'alice', 'update', 'document:d1', undefined],
  ['no_user_roles', 'no_graph_roles', 'carol', 'read', 'document:other', undefined],
  ['no_role_in_tenant', 'no_graph_roles', 'dave', 'read', 'document:d1', undefined],
  ['no_permission', 'no_graph_roles', 'dave', 'read', 'document:a1', undefined],
  ['no_permission', 'no_graph_roles', 'bob', 'update', 'document', undefined],
])(
  'with DEBUG_DECISIONS, a deny has the first applicable codes: %s and %s',
  async (rbac, rebac, user, action, on, tenant) => {
    const { allow, debug } = await explained(user, action, on, tenant)
    expect([allow, debug.rbac.code, debug.rebac.code]).toEqual([false, rbac, rebac])
  },
)

test('the explanation of a deny names the roles that would allow, or states that no instance is named', async () => {
  const { rbac, rebac } = (await explained('carol', 'read', 'document:other')).debug
  expect(rbac.reason).toMatch(/^the user holds no tenant role; roles that allow the action: .*reader/)
  expect(rebac.reason).toMatch(
    /^the user holds no role on the instance; roles that allow the action: .*viewer/,
  )
  const held = (await explained('dave', 'read', 'document:d1')).debug.rbac
  expect(held.reason).toMatch(/; roles that allow the action: .*reader/)
  const ofType = await explained('bob', 'update', 'document')
  expect(ofType.debug.rebac.reason).toBe('the check names no instance')
})

test('AuthZEN responses contain only the decision, and native responses contain more only if DEBUG_DECISIONS is set', async () => {
  const check = question('alice', 'read', 'document:d1')
  expect(await textOf(silent, '/allowed', check)).toBe('{"allow":true,"result":true}')
  expect(await textOf(silent, '/allowed/bulk', [check])).toBe('{"allow":[{"allow":true,"result":true}]}')
  for (const client of [open, silent]) {
    const body = evaluation('alice', 'read', 'document:d1')
    expect(await textOf(client, EVALUATION, body)).toBe(PERMIT)
    expect(await textOf(client, EVALUATIONS, { ...body, evaluations: [{}] })).toBe(
      `{"evaluations":[${PERMIT}]}`,
    )
  }
})
