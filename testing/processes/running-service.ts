/**
 * A complete service in this process on a free port, and a client for it. The client sends real HTTP requests
 * and has methods for domain operations. The service is closed when the test, or the file that started it,
 * ends.
 *
 * Domain methods (`user`, `group`, `grant` …) throw if they fail, so a test fails at the step that failed.
 * HTTP methods (`post`, `put` …) return every response.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished } from 'vitest'
import { type RunningService, startService } from '#composition/wiring/service.ts'
import type { Config } from '#config/settings.ts'
import { readConfig } from '#config/read-config.ts'
import { EVENTS_TYPE } from '#entities/change-event.ts'
import type { ConditionSet, ConditionSetCreate } from '#entities/condition-set.ts'
import type { GroupRead } from '#entities/group.ts'
import type { Relation } from '#entities/relation.ts'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'
import type { ResourceInstance } from '#entities/resource-instance.ts'
import type { Resource, ResourceCreate } from '#entities/resource.ts'
import type { RoleAssignment } from '#entities/role-assignment.ts'
import type { TenantRole } from '#entities/role.ts'
import type { SetRule } from '#entities/set-rule.ts'
import type { Tenant } from '#entities/tenant.ts'
import type { User } from '#entities/user.ts'
import type { OrganizationService } from '#management/organization/organization-service.ts'
import { createLog } from '#telemetry/log.ts'
import { freePort } from './free-port.ts'

export const API_KEY = 'environment-key-of-the-tests'
export const ADMIN_KEY = 'organization-key-of-the-tests'
export const SCHEMA = '/v2/schema/default/default'
export const FACTS = '/v2/facts/default/default'
export const GROUPS = `${SCHEMA}/groups`
export const RESOURCES = `${SCHEMA}/resources`

export interface Answer<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON, or the text if it is not JSON. Undefined if there is no body. */
  readonly body: Body
}

export interface Envelope<Item> {
  readonly data: Item[]
  readonly total_count: number
  readonly page_count: number
}

interface Keyed {
  readonly key: string
}

interface SendOptions {
  readonly body?: unknown
  /** Raw body. If given, it is sent instead of `body`. */
  readonly text?: string | Uint8Array<ArrayBuffer>
  /** The bearer token. If null, none is sent. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Cancels the request. */
  readonly signal?: AbortSignal
}

type Settings = Partial<Config>

/** Default settings: no data on disk, one HTTP thread, two known keys, no logs, no wait for other nodes. */
function settingsOf(settings: Settings): Config {
  const environment = {
    API_KEY,
    ADMIN_API_KEY: ADMIN_KEY,
    STORE_URL: 'memory:',
    PORT: '0',
    HTTP_THREADS: '1',
    NEW_STORE_WAIT_MS: '0',
  }
  return { ...readConfig({ ...environment, LOG_LEVEL: 'silent' }), ...settings }
}

/** Returns the text of a response. If the response is an event stream, returns its first event. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== EVENTS_TYPE) return response.text()
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

export class Client {
  readonly settings: Config
  readonly #service: Pick<RunningService, 'address' | 'close'> & Partial<RunningService>
  readonly #deaths: Error[]
  #closed: Promise<void> | null = null

  static async start(settings: Settings = {}): Promise<Client> {
    const config = settingsOf(settings)
    const deaths: Error[] = []
    // Several threads that share a port must know it in advance.
    const port = config.port === 0 && config.httpThreads > 1 ? await freePort() : config.port
    const service = await startService({ ...config, port }, createLog(config.logLevel), {
      onDeath: error => deaths.push(error),
      onThreads: () => {},
    })
    return new Client(config, service, deaths)
  }

  /** Returns a client for a service that other code starts and stops. */
  static at(address: string): Client {
    return new Client(settingsOf({}), { address, close: () => Promise.resolve() }, [])
  }

  private constructor(
    settings: Config,
    service: Pick<RunningService, 'address' | 'close'> & Partial<RunningService>,
    deaths: Error[],
  ) {
    this.settings = settings
    this.#service = service
    this.#deaths = deaths
  }

  get address(): string {
    return this.#service.address
  }

  /** Operations of the organization in this process. */
  get organization(): OrganizationService {
    const { organization } = this.#service
    if (!organization) throw new Error('the service runs in another process')
    return organization
  }

  get port(): number {
    return Number(new URL(this.address).port)
  }

  /** Closes the service, or waits until it is closed. Fails the test if a thread has failed. */
  async close(delayMs = 0): Promise<void> {
    this.#closed ??= this.#service.close(delayMs)
    await this.#closed
    expect(this.#deaths).toEqual([])
  }

  /** Closes the service, and starts another one with the same store. */
  async restart(): Promise<Client> {
    await this.close()
    const next = await Client.start(this.settings)
    onTestFinished(() => next.close())
    return next
  }

  // ---- HTTP requests ----

  async send<Body = unknown>(method: string, path: string, options: SendOptions = {}): Promise<Answer<Body>> {
    const { key = API_KEY } = options
    const body = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const response = await fetch(`${this.address}${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
      ...(options.signal && { signal: options.signal }),
    })
    const text = await textOf(response)
    return { status: response.status, headers: response.headers, body: bodyOf(text) as Body }
  }

  get<Body = unknown>(path: string): Promise<Answer<Body>> {
    return this.send('GET', path)
  }

  post<Body = unknown>(path: string, body: unknown): Promise<Answer<Body>> {
    return this.send('POST', path, { body })
  }

  put<Body = unknown>(path: string, body: unknown): Promise<Answer<Body>> {
    return this.send('PUT', path, { body })
  }

  patch<Body = unknown>(path: string, body: unknown): Promise<Answer<Body>> {
    return this.send('PATCH', path, { body })
  }

  delete<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.send('DELETE', path, { body })
  }

  /** Sends a request with the key of the organization. */
  admin<Body = unknown>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.send(method, path, { key: ADMIN_KEY, body })
  }

  /** Sends a request that must succeed, and returns the body of the response. */
  async done<Body = unknown>(method: string, path: string, body?: unknown, key = API_KEY): Promise<Body> {
    const answer = await this.send<Body>(method, path, { body, key })
    const said = `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`
    expect(answer.status, said).toBe(method === 'DELETE' ? 204 : 200)
    return answer.body
  }

  // ---- Checks and lists ----

  /** Sends a check. `on` is `type:key`, or `type` alone for a check on the type as a whole. */
  async allows(user: string, action: string, on: string, tenant?: string): Promise<boolean> {
    const body = question(user, action, on, tenant)
    const { allow, result } = await this.done<{ allow: boolean; result: boolean }>('POST', '/allowed', body)
    expect(result).toBe(allow)
    return allow
  }

  /** Sends many checks in one bulk. Up to 128 of them are decided on one state. */
  async allowsAll(questions: readonly ReturnType<typeof question>[]): Promise<boolean[]> {
    const answer = await this.done<{ allow: { allow: boolean }[] }>('POST', '/allowed/bulk', questions)
    return answer.allow.map(({ allow }) => allow)
  }

  /** Returns the items of a list that is an array or has an envelope. */
  async itemsIn<Item = Keyed>(path: string): Promise<Item[]> {
    const body = await this.done<Item[] | Envelope<Item>>('GET', path)
    return 'data' in body ? body.data : body
  }

  /** Returns the keys in a list, which must be an array without an envelope. */
  async keysIn(path: string): Promise<string[]> {
    return (await this.done<Keyed[]>('GET', path)).map(({ key }) => key)
  }

  /** Returns the current revision of the store. Every management response contains it. */
  async revision(): Promise<string> {
    const answer = await this.get(`${GROUPS}/direct?per_page=1`)
    return revisionOf(answer)
  }

  /** Returns all visible data of the environment, to compare it before and after an operation. */
  async everythingListed(): Promise<unknown> {
    const resources = await this.get(`${RESOURCES}?include_total_count=true&per_page=100`)
    const groups = await this.get(`${GROUPS}?per_page=100`)
    return { resources: resources.body, groups: groups.body }
  }

  // ---- Setup ----

  resource(body: Partial<ResourceCreate> & { readonly key: string }): Promise<Resource> {
    return this.done('POST', RESOURCES, { name: body.key, actions: {}, ...body })
  }

  conditionSet(body: Partial<ConditionSetCreate> & { readonly key: string }): Promise<ConditionSet> {
    return this.done('POST', `${SCHEMA}/condition_sets`, { name: body.key, ...body })
  }

  /** Documents with the actions read and update. Viewers may read; editors may read and update. */
  createDocumentModel(): Promise<Resource> {
    return this.resource({
      key: 'document',
      actions: { read: {}, update: {} },
      roles: {
        viewer: { name: 'Viewer', permissions: ['read'] },
        editor: { name: 'Editor', permissions: ['read', 'update'] },
      },
    })
  }

  /** The document model, with a user who is a viewer of a document. */
  async createViewer(user: string, document: string): Promise<void> {
    await this.createDocumentModel()
    await this.user(user)
    await this.assign(user, 'viewer', document)
  }

  /** Folders, and documents in folders. A viewer of a folder is a viewer of its documents. */
  async createFolderModel(): Promise<void> {
    const viewer = { name: 'Viewer', permissions: ['read'] }
    const entry = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
    await this.resource({ key: 'folder', actions: { read: {} }, roles: { viewer } })
    await this.resource({
      key: 'document',
      actions: { read: {} },
      roles: { viewer: { ...viewer, granted_to: { users_with_role: [entry] } } },
      relations: { parent: 'folder' },
    })
  }

  /** The folder model, with folders in folders. */
  async createNestedFolders(): Promise<void> {
    await this.createFolderModel()
    await this.relation('folder', 'parent', 'folder')
    const entry = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
    await this.done('POST', `${RESOURCES}/folder/roles/viewer/implicit_grants`, entry)
  }

  tenant(key: string): Promise<Tenant> {
    return this.done('POST', `${FACTS}/tenants`, { key, name: key })
  }

  user(key: string): Promise<User> {
    return this.done('POST', `${FACTS}/users`, { key })
  }

  async users(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.user(key)
  }

  instance(reference: string, tenant = 'default'): Promise<ResourceInstance> {
    const { type, key } = split(reference)
    return this.done('POST', `${FACTS}/resource_instances`, { resource: type, key, tenant })
  }

  tenantRole(key: string, permissions: readonly string[]): Promise<TenantRole> {
    return this.done('POST', `${SCHEMA}/roles`, { key, name: key, permissions })
  }

  relation(objectType: string, key: string, subjectType: string): Promise<Relation> {
    return this.done('POST', `${RESOURCES}/${objectType}/relations`, {
      key,
      name: key,
      subject_resource: subjectType,
    })
  }

  setRule(user_set: string, permission: string, resource_set: string): Promise<SetRule[]> {
    return this.done('POST', `${FACTS}/set_rules`, { user_set, permission, resource_set })
  }

  /** Assigns a tenant role in a tenant, or a resource role on `type:key`. */
  assign(user: string, role: string, where: string, tenant = 'default'): Promise<RoleAssignment> {
    const on = where.includes(':') ? { resource_instance: where, tenant } : { tenant: where }
    return this.done('POST', `${FACTS}/role_assignments`, { user, role, ...on })
  }

  relate(subject: string, relation: string, object: string, tenant = 'default'): Promise<RelationshipTuple> {
    return this.done('POST', `${FACTS}/relationship_tuples`, { subject, relation, object, tenant })
  }

  group(key: string, tenant = 'default'): Promise<GroupRead> {
    return this.done('POST', GROUPS, { group_instance_key: key, group_tenant: tenant })
  }

  async groups(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.group(key)
  }

  join(group: string, user: string, tenant = 'default'): Promise<GroupRead> {
    return this.done('PUT', memberPath(group, user), { tenant })
  }

  leave(group: string, user: string): Promise<undefined> {
    return this.done('DELETE', memberPath(group, user))
  }

  grant(group: string, role: string, on: string, tenant = 'default'): Promise<GroupRead> {
    return this.done('POST', `${groupPath(group)}/roles`, grantBody(role, on, tenant))
  }

  revoke(group: string, role: string, on: string, tenant = 'default'): Promise<undefined> {
    return this.done('DELETE', `${groupPath(group)}/roles`, grantBody(role, on, tenant))
  }

  /** Nests the inner group in the outer one. */
  nest(inner: string, { into }: { readonly into: string }): Promise<GroupRead> {
    return this.done('PUT', `${groupPath(into)}/assign_group`, { group_instance_key: inner })
  }

  unnest(inner: string, { from }: { readonly from: string }): Promise<undefined> {
    return this.done('DELETE', `${groupPath(from)}/assign_group`, { group_instance_key: inner })
  }

  /** Creates an API key with the key of the organization, by default a key of the default environment. */
  createKey(
    scope: object = { project_id: 'default', environment_id: 'default' },
  ): Promise<{ readonly id: string; readonly secret: string }> {
    return this.done('POST', '/v2/api-key', scope, ADMIN_KEY)
  }

  deleteGroup(group: string): Promise<undefined> {
    return this.done('DELETE', groupPath(group))
  }
}

/** Starts a service for the current test. */
export async function startedService(settings: Settings = {}): Promise<Client> {
  const client = await Client.start(settings)
  onTestFinished(() => client.close())
  return client
}

/** Starts a service for all tests of the current file. The tests avoid conflicts by using `fresh` names. */
export async function sharedService(settings: Settings = {}): Promise<Client> {
  const client = await Client.start(settings)
  afterAll(() => client.close())
  return client
}

let freshCount = 0

/** Appends a number to the names. No other test of this file gets the same names. */
export function fresh<Names extends readonly string[]>(...names: Names): { [Index in keyof Names]: string } {
  freshCount += 1
  return names.map(name => `${name}-${freshCount}`) as { [Index in keyof Names]: string }
}

/** Creates another environment in the default project, and returns a key for it. */
export async function neighbourOf(client: Client, key: string): Promise<string> {
  await client.done('POST', '/v2/projects/default/envs', { key, name: key }, ADMIN_KEY)
  const path = `/v2/api-key/default/${key}`
  return (await client.done<{ secret: string }>('GET', path, undefined, ADMIN_KEY)).secret
}

/** Returns a directory for an lmdb store. The directory is removed after the current test. */
export function storeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function question(user: string, action: string, on: string, tenant?: string) {
  const { type, key } = split(on)
  return {
    user: { key: user },
    action,
    resource: { type, ...(key !== undefined && { key }), ...(tenant !== undefined && { tenant }) },
  }
}

export function groupPath(group: string): string {
  return `${GROUPS}/${encodeURIComponent(group)}`
}

export function memberPath(group: string, user: string): string {
  return `${groupPath(group)}/users/${encodeURIComponent(user)}`
}

export function grantBody(role: string, on: string, tenant = 'default') {
  const { type, key } = split(on)
  return { role, resource: type, resource_instance: key, tenant }
}

export function revisionOf(answer: Answer): string {
  const revision = answer.headers.get('x-revision')
  expect(revision).toMatch(/^[A-Za-z0-9-]+\.\d+$/)
  return revision!
}

/** Splits a reference at its first colon. Without a colon, it has no key. */
function split(reference: string): { readonly type: string; readonly key: string | undefined } {
  const colon = reference.indexOf(':')
  if (colon < 0) return { type: reference, key: undefined }
  return { type: reference.slice(0, colon), key: reference.slice(colon + 1) }
}

/** Returns the parsed JSON, or the text itself if it is not JSON. */
export function bodyOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
