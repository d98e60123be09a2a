/**
 * The model of a load test. It is isolated from other data, and its permissions are known. With a key of the
 * organization or of a project, the test creates an environment for it. With a key of an environment, the
 * test creates all entities in this environment, with unique names. Everything is removed after the test.
 */
import { randomBytes } from 'node:crypto'
import { Management } from './management.ts'

const USERS = 40
const DOCUMENTS = 25
/** Number of users that are changed during the checks. They are not checked themselves. */
export const WRITERS = 16

export interface Question {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly key: string
  readonly tenant: string
  /** The correct decision. */
  readonly isAllowed: boolean
}

interface LoadEnvironment {
  readonly decider: Management
  readonly facts: string
  readonly schema: string
  /** Removes the environment. Null if the environment existed before the test. */
  readonly removal: (() => Promise<unknown>) | null
}

export class LoadModel {
  readonly name: string
  readonly #place: LoadEnvironment
  /** Revision of the last change. Decisions at this revision reflect the whole model. */
  revision = ''

  /** Loads the model. If loading fails, removes the part that was loaded. */
  static async load(address: string, key: string): Promise<LoadModel> {
    const name = `load-${randomBytes(4).toString('hex')}`
    const model = new LoadModel(name, await placeFor(new Management(address, key), { address, name }))
    await model.#make().catch(async (error: unknown) => {
      await model.remove().catch(() => {})
      throw error
    })
    return model
  }

  private constructor(name: string, place: LoadEnvironment) {
    this.name = name
    this.#place = place
  }

  /** Client whose key can request decisions in the environment of the model. */
  get decider(): Management {
    return this.#place.decider
  }

  /**
   * Role of a user on a document. Viewers can read, editors can also write, and some users have neither role.
   */
  #roleOf(user: number, document: number): 'viewer' | 'editor' | null {
    return ([null, 'viewer', null, 'editor'] as const)[(user + document) % 4]!
  }

  user(index: number): string {
    return `${this.name}-user-${index}`
  }

  /** Path of the request that changes the user. */
  writerPath(index: number): string {
    return `${this.#place.facts}/users/${this.name}-writer-${index % WRITERS}`
  }

  async #make(): Promise<void> {
    const { decider, facts, schema } = this.#place
    const { name } = this
    await decider.send('POST', `${schema}/resources`, {
      key: name,
      name,
      actions: { read: {}, write: {} },
      roles: {
        viewer: { name: 'Viewer', permissions: ['read'] },
        editor: { name: 'Editor', permissions: ['read', 'write'] },
      },
    })
    await decider.send('POST', `${facts}/tenants`, { key: name, name })
    await decider.send('POST', `${facts}/bulk/users`, { operations: this.#userKeys().map(key => ({ key })) })
    const assignments = Array.from({ length: USERS * DOCUMENTS }, (_, at) => {
      const [user, document] = [Math.floor(at / DOCUMENTS), at % DOCUMENTS]
      const role = this.#roleOf(user, document)
      return { user: this.user(user), role, tenant: name, resource_instance: `${name}:${document}` }
    }).filter(({ role }) => role !== null)
    const { revision } = await decider.send('POST', `${facts}/role_assignments/bulk`, assignments)
    this.revision = revision
  }

  #userKeys(): string[] {
    return [
      ...Array.from({ length: USERS }, (_, index) => this.user(index)),
      ...Array.from({ length: WRITERS }, (_, index) => `${this.name}-writer-${index}`),
    ]
  }

  /**
   * Returns the given number of checks. They go through all users, documents and actions, repeatedly if
   * necessary.
   */
  questions(count: number): Question[] {
    return Array.from({ length: count }, (_, at) => {
      const [user, document] = [at % USERS, (at * 7) % DOCUMENTS]
      const action = at % 3 === 0 ? 'write' : 'read'
      const role = this.#roleOf(user, document)
      const isAllowed = role === 'editor' || (role === 'viewer' && action === 'read')
      return {
        user: this.user(user),
        action,
        type: this.name,
        key: String(document),
        tenant: this.name,
        isAllowed,
      }
    })
  }

  /**
   * Removes everything that the test created. If a step fails, the other steps are still performed, and then
   * the first error is thrown.
   */
  async remove(): Promise<void> {
    const { decider, facts, schema, removal } = this.#place
    if (removal !== null) {
      await removal()
      return
    }
    const done = await Promise.allSettled([
      decider.send('DELETE', `${schema}/resources/${this.name}`),
      decider.send('DELETE', `${facts}/tenants/${this.name}`),
      decider.send('DELETE', `${facts}/bulk/users`, { idents: this.#userKeys() }),
    ])
    for (const { status, reason } of done as { status: string; reason?: unknown }[])
      if (status === 'rejected') throw reason
  }
}

interface Scope {
  readonly project_id: string | null
  readonly environment_id: string | null
}

async function placeFor(
  owner: Management,
  { address, name }: { readonly address: string; readonly name: string },
): Promise<LoadEnvironment> {
  const { body: scope } = await owner.send<Scope>('GET', '/v2/api-key/scope')
  if (scope.environment_id !== null) {
    const of = `${scope.project_id}/${scope.environment_id}`
    return { decider: owner, facts: `/v2/facts/${of}`, schema: `/v2/schema/${of}`, removal: null }
  }
  // With a key of the organization, a new project is created, because the choice of an existing project would
  // be a guess.
  const project = scope.project_id ?? name
  if (scope.project_id === null)
    await owner.send('POST', '/v2/projects', { key: name, name, initial_environments: [] })
  const removal = () =>
    owner.send(
      'DELETE',
      scope.project_id === null ? `/v2/projects/${name}` : `/v2/projects/${project}/envs/${name}`,
    )
  try {
    await owner.send('POST', `/v2/projects/${project}/envs`, { key: name, name })
    const { body } = await owner.send<{ secret: string }>('GET', `/v2/api-key/${project}/${name}`)
    const of = `${project}/${name}`
    return {
      decider: new Management(address, body.secret),
      facts: `/v2/facts/${of}`,
      schema: `/v2/schema/${of}`,
      removal,
    }
  } catch (error) {
    await removal().catch(() => {})
    throw error
  }
}
