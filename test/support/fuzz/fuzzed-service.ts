/** A service that receives random requests and re-creates entities that they have removed. */
import { expect } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  FACTS,
  fresh,
  GROUPS,
  question,
  RESOURCES,
  SCHEMA,
} from '#testing/processes/running-service.ts'
import type { Kind } from './known-names.ts'

/** Names of existing entities for random requests. Repeated names are used more often. */
export const LASTING: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  action: ['read', 'update'],
  'action group': ['all'],
  attribute: ['pages'],
  environment: ['default', 'default', 'default', 'second'],
  group: ['team', 'group:team', 'outer'],
  instance: ['document:d1', 'document:d1', 'folder:f1', 'group:team'],
  'instance key': ['d1', 'd1', 'f1'],
  organization: ['default'],
  permission: ['document:read', 'document:update', 'folder:open'],
  project: ['default'],
  relation: ['parent'],
  resource: ['document', 'document', 'document', 'document', 'folder', '__user'],
  'resource role': ['viewer', 'editor'],
  'resource set': ['long', 'document', '__autogen_document'],
  role: ['viewer', 'editor', 'guest', 'guest'],
  set: ['long', 'staff'],
  'subject type': ['user'],
  tenant: ['default', 'acme'],
  'tenant role': ['guest', 'owner'],
  user: ['alice', 'bob'],
  'user attribute': ['level'],
  'user set': ['staff', 'guest'],
}

type Making = readonly [method: string, path: string, body: object]

const DOCUMENT = {
  name: 'Document',
  actions: { read: {}, update: {} },
  attributes: { pages: { type: 'number' } },
  roles: {
    viewer: { name: 'Viewer', permissions: ['read'] },
    editor: { name: 'Editor', permissions: ['update'], extends: ['viewer'] },
  },
  relations: { parent: 'folder' },
}
const FOLDER = { name: 'Folder', actions: { open: {} }, roles: { viewer: { name: 'Viewer' } } }
const LONG = {
  key: 'long',
  name: 'Long',
  type: 'resourceset',
  resource_id: 'document',
  conditions: { 'resource.pages': { 'greater-than': 5 } },
}

const MODEL: readonly Making[] = [
  ['POST', '/v2/projects', { key: 'default', name: 'Default' }],
  ['POST', '/v2/projects/default/envs', { key: 'default', name: 'Default' }],
  ['POST', '/v2/projects/default/envs', { key: 'second', name: 'Second' }],
  ['POST', `${FACTS}/tenants`, { key: 'default', name: 'Default' }],
  ['POST', `${FACTS}/tenants`, { key: 'acme', name: 'Acme' }],
  ['PUT', `${FACTS}/users/alice`, { key: 'alice', attributes: { level: 3 } }],
  ['PUT', `${FACTS}/users/bob`, { key: 'bob' }],
  ['PUT', `${RESOURCES}/folder`, FOLDER],
  ['PUT', `${RESOURCES}/document`, DOCUMENT],
  ['POST', `${RESOURCES}/document/action_groups`, { key: 'all', name: 'All', actions: ['read'] }],
  ['POST', `${SCHEMA}/users/attributes`, { key: 'level', type: 'number' }],
  ['POST', `${SCHEMA}/roles`, { key: 'guest', name: 'Guest', permissions: ['document:read'] }],
  ['POST', `${SCHEMA}/roles`, { key: 'owner', name: 'Owner', permissions: ['folder:open'] }],
  ['POST', `${SCHEMA}/condition_sets`, { key: 'staff', name: 'Staff', type: 'userset', conditions: {} }],
  ['POST', `${SCHEMA}/condition_sets`, LONG],
  ['POST', `${FACTS}/set_rules`, { user_set: 'staff', permission: 'document:read', resource_set: 'long' }],
  ['POST', `${FACTS}/resource_instances`, { resource: 'document', key: 'd1', tenant: 'default' }],
  ['POST', `${FACTS}/resource_instances`, { resource: 'folder', key: 'f1', tenant: 'default' }],
  [
    'POST',
    `${FACTS}/relationship_tuples`,
    { subject: 'folder:f1', relation: 'parent', object: 'document:d1' },
  ],
  [
    'POST',
    `${FACTS}/role_assignments`,
    { user: 'alice', role: 'viewer', resource_instance: 'document:d1', tenant: 'default' },
  ],
  ['POST', `${FACTS}/role_assignments`, { user: 'bob', role: 'guest', tenant: 'default' }],
  ['POST', GROUPS, { group_instance_key: 'team', group_tenant: 'default' }],
  ['POST', GROUPS, { group_instance_key: 'outer', group_tenant: 'default' }],
  ['PUT', `${GROUPS}/team/users/alice`, { tenant: 'default' }],
]

export class FuzzedService {
  readonly client: Client
  /** One API key for each kind in the description. */
  readonly keys = { environmentKey: API_KEY, projectKey: '', organizationKey: ADMIN_KEY }

  constructor(client: Client) {
    this.client = client
  }

  /** Creates missing entities. Random requests can have changed the model so that some creations fail. */
  async arrange(): Promise<void> {
    for (const [method, path, body] of MODEL) await this.#make(method, path, body)
    const project = { project_id: 'default' }
    this.keys.projectKey = await this.#lastingKey(this.keys.projectKey, project)
    const environment = { ...project, environment_id: 'default' }
    this.keys.environmentKey = await this.#lastingKey(this.keys.environmentKey, environment)
  }

  /** Expects correct decisions for a new model. */
  async expectRight(howToRepeat: string): Promise<void> {
    await this.arrange()
    const [type, ann, ben] = fresh('type', 'ann', 'ben')
    const on = `${type}:gate`
    const roles = { guard: { name: 'Guard', permissions: ['pass'] } }
    const statuses = [
      await this.#make('POST', RESOURCES, { key: type, name: type, actions: { pass: {} }, roles }),
      await this.#make('POST', `${FACTS}/resource_instances`, {
        resource: type,
        key: 'gate',
        tenant: 'default',
      }),
      await this.#make('POST', `${FACTS}/users`, { key: ann }),
      await this.#make('POST', `${FACTS}/users`, { key: ben }),
      await this.#make('POST', `${FACTS}/role_assignments`, {
        user: ann,
        role: 'guard',
        resource_instance: on,
      }),
    ]
    expect(statuses, howToRepeat).toEqual([200, 200, 200, 200, 200])
    const ask = async (user: string) => {
      const options = { key: this.keys.environmentKey, body: question(user, 'pass', on) }
      const answer = await this.client.send<{ allow: boolean }>('POST', '/allowed', options)
      return answer.body.allow
    }
    expect([await ask(ann), await ask(ben)], howToRepeat).toEqual([true, false])
  }

  async #make(method: string, path: string, body: object): Promise<number> {
    const answer = await this.client.send(method, path, { key: ADMIN_KEY, body })
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(500)
    return answer.status
  }

  /** Returns the key if it is still valid, or a new one. */
  async #lastingKey(key: string, scope: object): Promise<string> {
    const known = await this.client.send('GET', '/v2/api-key/scope', { key })
    if (known.status === 200) return key
    return (await this.client.createKey(scope)).secret
  }
}
