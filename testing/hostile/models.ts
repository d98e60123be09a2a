/**
 * Models with which a caller might slow down other environments, although each model is within the limits of
 * one environment. A model consists of the requests that create it, in order, and of requests that are then
 * sent to it. Sizes are parameters, so that tests can use the same model at a smaller scale.
 */

/** A request to the management API of the default environment, with its body. */
export interface ModelCall {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: unknown
}

/** A request that is sent with the key of an environment. */
export interface Question {
  readonly path: string
  readonly body: unknown
}

export interface HostileModel {
  calls(): Iterable<ModelCall>
  readonly questions: Readonly<Record<string, Question>>
}

/** Maximum number of elements in one bulk call. */
const BULK = 10_000
const LISTER = 'lister'
const USER = 'mallory'

/** One user may do many actions on many instances. A request of 20 bytes lists instances × actions. */
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
 * A document with many roles. Each role is derived from a role on the folder of the document, which is at the
 * end of a chain of folders. Evaluating each role separately takes roles × folders steps. A second document
 * is in so many folders that evaluating all its roles together takes many steps. The user who is checked can
 * view many other documents.
 */
export function longWays(size: {
  readonly roles: number
  readonly folders: number
  /** Number of folders that contain the second document. */
  readonly wide: number
  /** Number of other documents that the user can view, all of them in one folder. */
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
