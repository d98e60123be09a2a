/**
 * What one environment's caller can shape to hurt others, within the ceilings: the requests that make it, in order, and those
 * that are asked of it then. Sizes are given, so that tests can have the shape without the weight.
 */

/** A request to the default environment's management, with its body. */
export interface ModelCall {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: unknown
}

/** A request with an environment's key. */
export interface Question {
  readonly path: string
  readonly body: unknown
}

export interface HostileModel {
  calls(): Iterable<ModelCall>
  readonly questions: Readonly<Record<string, Question>>
}

/** Most elements of one bulk call. */
const BULK = 10_000
const LISTER = 'lister'
const USER = 'mallory'

/**
 * One user with a role of many actions on many instances, and many users with one on the first of them: 20 bytes of a request
 * ask for instances × actions permissions.
 */
export function wideLists(size: {
  readonly instances: number
  readonly actions: number
  readonly users: number
}): HostileModel {
  const names = Array.from({ length: size.actions }, (_, number) => `action-with-a-name-${number}`)
  const actions = Object.fromEntries(names.map(name => [name, {}]))
  const roles = { owner: { name: 'owner', permissions: names } }
  return {
    *calls() {
      yield resources({ key: 'wide', name: 'wide', actions, roles })
      yield users([LISTER, ...numbered(size.users, 'user')])
      yield* inBulks('role_assignments/bulk', size.instances, number => {
        return { user: LISTER, role: 'owner', resource_instance: `wide:${number}`, tenant: 'default' }
      })
      yield* inBulks('role_assignments/bulk', size.users, number => {
        return { user: `user-${number}`, role: 'owner', resource_instance: 'wide:0', tenant: 'default' }
      })
    },
    questions: {
      permissions: { path: '/user-permissions', body: { user: { key: LISTER } } },
      users: {
        path: '/authorized_users',
        body: { action: names[0], resource: { type: 'wide', key: '0', tenant: 'default' } },
      },
    },
  }
}

/**
 * A document with many roles, each of which follows from one on the folder it is in, at the end of a chain of folders: asked
 * for each role by itself, roles × folders steps. And one in many folders, where the steps are as many for all roles together,
 * asked about by somebody who reaches as many others.
 */
export function longWays(size: {
  readonly roles: number
  readonly folders: number
  /** In so many folders the wide one is. */
  readonly wide: number
  /** So many others are in the one folder that the user may see. */
  readonly aside: number
}): HostileModel {
  const derived = (relation: string) => ({
    users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: relation }],
  })
  const roles = Object.fromEntries(
    numbered(size.roles, 'role').map(key => [
      key,
      { name: key, permissions: ['read'], granted_to: derived('parent') },
    ]),
  )
  return {
    *calls() {
      yield resources({
        key: 'folder',
        name: 'folder',
        actions: { read: {} },
        roles: { viewer: { name: 'viewer', permissions: ['read'] } },
      })
      yield {
        method: 'POST',
        path: '/v2/schema/default/default/resources/folder/relations',
        body: { key: 'parent', name: 'parent', subject_resource: 'folder' },
      }
      yield {
        method: 'POST',
        path: '/v2/schema/default/default/resources/folder/roles/viewer/implicit_grants',
        body: { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
      }
      yield resources({
        key: 'paper',
        name: 'paper',
        actions: { read: {}, write: {} },
        relations: { parent: 'folder' },
        roles,
      })
      yield users([USER])
      yield* inBulks('relationship_tuples/bulk', size.folders, number => tuple(number, 'folder', number + 1))
      yield* inBulks('relationship_tuples/bulk', 1, () => tuple(size.folders, 'paper', 'deep'))
      yield* inBulks('relationship_tuples/bulk', size.wide, number =>
        tuple(`wide-${number}`, 'paper', 'wide'),
      )
      yield* inBulks('relationship_tuples/bulk', size.aside, number => tuple('aside', 'paper', number))
      yield* inBulks('role_assignments/bulk', 1, () => {
        return { user: USER, role: 'viewer', resource_instance: 'folder:aside', tenant: 'default' }
      })
    },
    questions: {
      deep: { path: '/allowed/explain', body: question('paper', 'deep') },
      wide: { path: '/allowed/explain', body: question('paper', 'wide') },
      actions: {
        path: '/access/v1/search/action',
        body: { subject: { type: 'user', id: USER }, resource: { type: 'paper', id: 'deep' } },
      },
    },
  }
}

function question(type: string, key: string) {
  return { user: { key: USER }, action: 'read', resource: { type, key } }
}

function tuple(subject: number | string, type: string, object: number | string) {
  return { subject: `folder:${subject}`, relation: 'parent', object: `${type}:${object}`, tenant: 'default' }
}

function numbered(count: number, name: string): string[] {
  return Array.from({ length: count }, (_, number) => `${name}-${number}`)
}

function resources(body: unknown): ModelCall {
  return { method: 'POST', path: '/v2/schema/default/default/resources', body }
}

function users(keys: readonly string[]): ModelCall {
  const operations = keys.map(key => ({ key }))
  return { method: 'PUT', path: '/v2/facts/default/default/bulk/users', body: { operations } }
}

function* inBulks(path: string, count: number, element: (number: number) => unknown): Iterable<ModelCall> {
  for (let from = 0; from < count; from += BULK) {
    const elements = Array.from({ length: Math.min(BULK, count - from) }, (_, index) => element(from + index))
    const body = path.startsWith('relationship') ? { operations: elements } : elements
    yield { method: 'POST', path: `/v2/facts/default/default/${path}`, body }
  }
}
