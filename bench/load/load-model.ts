/**
 * What a load test asks about: a model of its own in a place of its own, and who may do what in it. A key of the organization or of a
 * project makes an environment; with a key of an environment everything stands in that one, under names that nobody else has. All of it
 * is removed again.
 */
import { randomBytes } from 'node:crypto'
import { Management } from './management.ts'

const USERS = 40
const DOCUMENTS = 25
/** Users that nobody asks about, changed beside the questions. */
export const WRITERS = 16

export interface Question {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly key: string
  readonly tenant: string
  /** What the answer must be. */
  readonly isAllowed: boolean
}

interface Place {
  readonly decider: Management
  readonly facts: string
  readonly schema: string
  /** Null: the place was there before. */
  readonly removal: (() => Promise<unknown>) | null
}

export class LoadModel {
  readonly name: string
  readonly #place: Place
  /** The last change: decisions on it know all of the model. */
  revision = ''

  /** Loads the model. What a failed load leaves is removed. */
  static async load(address: string, key: string): Promise<LoadModel> {
    const name = `load-${randomBytes(4).toString('hex')}`
    const model = new LoadModel(name, await placeFor(new Management(address, key), { address, name }))
    await model.#make().catch(async (error: unknown) => {
      await model.remove().catch(() => {})
      throw error
    })
    return model
  }

  private constructor(name: string, place: Place) {
    this.name = name
    this.#place = place
  }

  /** Whoever may decide in the model's environment. */
  get decider(): Management {
    return this.#place.decider
  }

  /** Viewers may read, editors may write, too; some hold neither. */
  #roleOf(user: number, document: number): 'viewer' | 'editor' | null {
    return ([null, 'viewer', null, 'editor'] as const)[(user + document) % 4]!
  }

  user(index: number): string {
    return `${this.name}-user-${index}`
  }

  /** The path at which the user is changed. */
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

  /** As many questions as asked for, of all users, documents and actions in turns. */
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

  /** What was there before stays. All is tried; the first thing that fails is thrown then. */
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
): Promise<Place> {
  const { body: scope } = await owner.send<Scope>('GET', '/v2/api-key/scope')
  if (scope.environment_id !== null) {
    const of = `${scope.project_id}/${scope.environment_id}`
    return { decider: owner, facts: `/v2/facts/${of}`, schema: `/v2/schema/${of}`, removal: null }
  }
  // With a key of the organization a project of one's own: which of those there are would be a guess.
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
