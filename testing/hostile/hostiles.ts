/** Attacks, within all limits, with the key of one environment. They must not affect other environments. */
import type { HostileClient } from './caller.ts'

/** Size of the hostile environment. The benchmark uses scale 1, and the test a smaller scale. */
export interface Size {
  readonly groups: number
  readonly instances: number
  readonly actions: number
  readonly roles: number
  /** Number of rules on one action. */
  readonly rules: number
  readonly elements: number
  readonly bodyBytes: number
  readonly attributeBytes: number
  /** Number of callers that attack at the same time. */
  readonly callers: number
}

export const WHOLE: Size = {
  groups: 20_000,
  instances: 20_000,
  actions: 200,
  roles: 500,
  rules: 10_000 - 5,
  elements: 10_000,
  bodyBytes: 14_000_000,
  attributeBytes: 60_000,
  callers: 50,
}

/** Sends one request; `turn` counts the calls. Resolves to the status, or 0 after a disconnect. */
export type Attack = (caller: HostileClient, size: Size, turn: number) => Promise<number>

const FACTS = '/v2/facts/default/hostile'
const SCHEMA = '/v2/schema/default/hostile'
const LARGE_USERS = 100

/** Lines of an import. It creates the hostile environment before the measurement. */
export function* contentOf(size: Size): Iterable<object> {
  const actions = Object.fromEntries(Array.from({ length: size.actions }, (_, n) => [`action-${n}`, {}]))
  const permissions = Object.keys(actions)
  const nesting = { name: 'group', group_use: { use: 'nesting' } }
  const member = { role: 'member', on_resource: 'group', linked_by_relation: 'group' }
  yield { kind: 'environment', format: 1 }
  yield {
    kind: 'resource',
    key: 'group',
    name: 'group',
    actions: {},
    relations: { group: 'group' },
    relation_details: { group: nesting },
    roles: { member: { name: 'member', granted_to: { users_with_role: [member] } } },
  }
  const viewer = { name: 'Viewer', permissions }
  yield { kind: 'resource', key: 'document', name: 'Document', actions, roles: { viewer } }
  yield { kind: 'tenant', key: 'default', name: 'Default' }
  const long = 'x'.repeat(size.attributeBytes)
  for (let n = 0; n < LARGE_USERS; n += 1) yield { kind: 'user', key: `user-${n}`, attributes: { long } }
  for (let n = 0; n < size.groups; n += 1) {
    yield { kind: 'instance', resource: 'group', key: `g${n}`, tenant: 'default', is_group: true }
  }
  for (let n = 0; n < size.instances; n += 1) {
    yield { kind: 'instance', resource: 'document', key: `d${n}`, tenant: 'default' }
  }
  for (let n = 0; n < size.instances; n += 1) {
    yield { kind: 'assignment', user: 'user-0', role: 'viewer', resource_instance: `document:d${n}` }
  }
  yield { kind: 'assignment', user: 'user-1', role: 'member', resource_instance: 'group:g0' }
  for (let n = 1; n < size.groups; n += 1) {
    yield { kind: 'tuple', subject: `group:g${n - 1}`, relation: 'group', object: `group:g${n}` }
  }
}

export function textOf(size: Size): string {
  return linesOf(contentOf(size))
}

/** Returns the text of an import. */
export function linesOf(content: Iterable<object>): string {
  const lines = [...content]
  return [...lines, { kind: 'end', lines: lines.length }].map(line => `${JSON.stringify(line)}\n`).join('')
}

export const asked = (method: string, path: string, body?: unknown) => async (caller: HostileClient) =>
  (await caller.send(method, path, body)).status

const lastInstance = (size: Size): string => `d${size.instances - 1}`

/** Cache of serialized bodies. Otherwise, an attack would cost the client more than the service. */
const bodies = new Map<string, string>()

export function bodyOnce(name: string, make: () => unknown): string {
  let text = bodies.get(name)
  if (text === undefined) bodies.set(name, (text = JSON.stringify(make())))
  return text
}

export const HOSTILES: Readonly<Record<string, Attack>> = {
  'lists of permissions': asked('POST', '/user-permissions', { user: { key: 'user-0' } }),
  'lists of users': (caller, size) =>
    asked('POST', '/authorized_users', {
      action: 'action-0',
      resource: { type: 'document', key: lastInstance(size), tenant: 'default' },
    })(caller),
  explanations: (caller, size) =>
    asked('POST', '/allowed/explain', {
      user: { key: 'user-1' },
      action: 'none',
      resource: { type: 'group', key: `g${size.groups - 1}`, tenant: 'default' },
    })(caller),
  'deep nestings': (caller, size) =>
    asked('POST', '/allowed', {
      user: { key: 'user-1' },
      action: 'none',
      resource: { type: 'group', key: `g${size.groups - 1}`, tenant: 'default' },
    })(caller),
  searches: asked('POST', '/access/v1/search/resource', {
    subject: { type: 'user', id: 'user-0' },
    action: { name: 'action-0' },
    resource: { type: 'document' },
  }),
  'pipelined checks': async (caller, size) => {
    const check = { user: { key: 'user-0' }, action: 'action-0', resource: { type: 'document', key: 'd0' } }
    const count = Math.min(size.elements, 2_000)
    const answers = await caller.pipelined('/allowed', JSON.stringify(check), count)
    return answers === count ? 200 : 0
  },
  'bulks of checks': (caller, size) => {
    const check = { user: { key: 'user-0' }, action: 'action-0', resource: { type: 'document', key: 'd0' } }
    const body = bodyOnce('checks', () => Array.from({ length: size.elements }, () => check))
    return asked('POST', '/allowed/bulk', body)(caller)
  },
  'checks that have to be parsed': (caller, size) => {
    const check = { user: { key: 'é\\n' }, action: 'action-0', resource: { type: 'document', key: 'd0' } }
    const long = { ...check, context: { long: 'x'.repeat(size.bodyBytes / size.elements) } }
    const body = bodyOnce('parsed checks', () => Array.from({ length: size.elements }, () => long))
    return asked('POST', '/allowed/bulk', body)(caller)
  },
  'roles and actions': (caller, size, turn) => {
    const permissions = Array.from({ length: size.actions }, (_, n) => `document:action-${n}`)
    if (turn % 8 !== 0) {
      const name = { name: `Name ${turn}` }
      return asked(
        'PATCH',
        `${SCHEMA}/resources/document/actions/action-${turn % size.actions}`,
        name,
      )(caller)
    }
    const operations = Array.from({ length: size.roles }, (_, n) => ({
      key: `role-${n}`,
      name: 'R',
      permissions,
    }))
    return asked('PUT', `${SCHEMA}/bulk/roles`, { operations })(caller)
  },
  'large bodies': (caller, size) => {
    const body = bodyOnce('user', () => ({ key: 'user-9', attributes: { long: 'x'.repeat(size.bodyBytes) } }))
    return asked('PUT', `${FACTS}/users/user-9`, body)(caller)
  },
  'large bulks': (caller, size) => {
    const bytes = Math.floor(size.bodyBytes / size.elements)
    const body = bodyOnce('users', () => ({
      operations: Array.from({ length: size.elements }, (_, n) => ({
        key: `bulk-${n}`,
        attributes: { long: 'x'.repeat(bytes) },
      })),
    }))
    return asked('PUT', `${FACTS}/bulk/users`, body)(caller)
  },
  'large pages': asked('GET', `${FACTS}/users?per_page=100`),
  'large pages nobody waits for': async (caller, _, turn) => {
    const leaving = AbortSignal.timeout(20 + (turn % 30))
    try {
      return (await caller.send('GET', `${FACTS}/users?per_page=100`, undefined, leaving)).status
    } catch {
      return 0
    }
  },
  'pages far behind': asked('GET', `${FACTS}/role_assignments?per_page=1000&page=19&resource=document`),
  'large attributes': (caller, size, turn) =>
    asked('PATCH', `${FACTS}/users/user-${turn % LARGE_USERS}`, {
      attributes: { long: `${turn}`.padEnd(size.attributeBytes, 'y') },
    })(caller),
  'change streams': async (caller, size, turn) => {
    if (turn % 4 === 0) return HOSTILES['bulks of changes']!(caller, size, turn >> 2)
    const leaving = AbortSignal.timeout(500 + 100 * (turn % 16))
    try {
      return (await caller.send('GET', `${FACTS}/changes`, undefined, leaving)).status
    } catch {
      return 0
    }
  },
  'bulks of changes': (caller, size, turn) => {
    const body = Array.from({ length: size.elements }, (_, n) => ({
      user: `user-${turn % LARGE_USERS}`,
      role: 'viewer',
      resource_instance: `document:d${n % size.instances}`,
    }))
    return asked(turn % 2 === 0 ? 'POST' : 'DELETE', `${FACTS}/role_assignments/bulk`, body)(caller)
  },
  'bulks of new things': async (caller, size, turn) => {
    const lot = turn % 8
    const keys = Array.from({ length: size.elements }, (_, n) => `new-${lot}-${n}`)
    const made = bodyOnce(`new ${lot}`, () =>
      keys.map(key => ({
        user: 'user-2',
        role: 'viewer',
        tenant: 'default',
        resource_instance: `document:${key}`,
      })),
    )
    const gone = bodyOnce(`gone ${lot}`, () => ({ idents: keys.map(key => `document:${key}`) }))
    const { status } = await caller.send('POST', `${FACTS}/role_assignments/bulk`, made)
    await caller.send('DELETE', `${FACTS}/bulk/resource_instances`, gone)
    return status
  },
  'bulks of roles along a chain': (caller, size, turn) => {
    const count = Math.min(size.elements, 9_000)
    const chain = Math.min(100, count - 1)
    const body = bodyOnce(`chained ${turn % 2}`, () => ({
      operations: Array.from({ length: count }, (_, n) => ({
        key: `chained-${n}`,
        name: `Name ${turn % 2}`,
        permissions: [],
        extends: n === 0 ? [] : [`chained-${n < chain ? n - 1 : chain - 1}`],
      })),
    }))
    return asked('PUT', `${SCHEMA}/bulk/roles`, body)(caller)
  },
  'relations replaced': (caller, size, turn) => {
    const relations = Object.fromEntries(
      Array.from({ length: Math.min(size.elements, 1_000) }, (_, n) => [`r-${turn}-${n}`, 'document']),
    )
    const body = { name: 'Replaced', actions: {}, relations }
    return asked('PUT', `${SCHEMA}/resources/replaced-${turn % 9}`, body)(caller)
  },
  'group in a chain': (caller, size) =>
    // This nesting would create a cycle. To find it, the service searches the whole chain.
    asked('PUT', `${SCHEMA}/groups/group:g0/assign_group`, {
      group_instance_key: `group:g${size.groups - 1}`,
    })(caller),
  exports: asked('GET', '/v2/projects/default/envs/hostile/export'),
  imports: (caller, size) =>
    asked('POST', '/v2/projects/default/envs/hostile/import?replace=true', bodyOf(size))(caller),
  'tenants deleted': async (caller, size, turn) => {
    const key = `doomed-${turn}`
    await caller.send('POST', `${FACTS}/tenants`, { key, name: key })
    const operations = Array.from({ length: Math.min(1_000, size.elements) }, (_, n) => ({
      key: `${key}-${n}`,
      resource: 'document',
      tenant: key,
    }))
    await caller.send('PUT', `${FACTS}/bulk/resource_instances`, { operations })
    return (await caller.send('DELETE', `${FACTS}/tenants/${key}`)).status
  },
}

function bodyOf(size: Size): string {
  let text = bodies.get('content')
  if (text === undefined) bodies.set('content', (text = textOf(size)))
  return text
}
