/**
 * An actor owns a part of the model with users, documents, folders and a group. It changes this part with one
 * request at a time, so it knows every correct decision: the last completed change is in effect, even if the
 * service was killed since then.
 *
 * If the response to a change is lost, the change might have been made. The actor repeats it until there is a
 * response. The service can respond to a repeated change with 409 or 404, which the actor also accepts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpClient, Response } from './http-client.ts'
import type { Tally } from './tally.ts'

const USERS = 8
const DOCUMENTS = 12
const FOLDERS = 3
/** Number of checks in a bulk. */
const BULK_CHECKS = 50
/** One request in this number of requests is a change, a search or a bulk. */
const [WRITE_EVERY, SEARCH_EVERY, BULK_EVERY] = [8, 16, 8]
const RETRY_MS = 50
const SCHEMA = '/v2/schema/default/default'
const FACTS = '/v2/facts/default/default'
const TENANT = 'default'

interface Check {
  readonly user: number
  readonly document: number
}

export class Actor {
  readonly #name: string
  readonly #client: () => HttpClient
  readonly #tally: Tally
  /** Users who currently hold a direct role, as `user/document`. */
  readonly #direct = new Set<string>()
  readonly #members = new Set<number>()
  readonly #granted = new Set<number>()
  /** The folder in which each document currently is. */
  readonly #folders: number[] = Array.from({ length: DOCUMENTS }, (_, document) => document % FOLDERS)
  #state: number

  /** `client` returns the client to use. It changes when the service is restarted. */
  constructor(index: number, client: () => HttpClient, tally: Tally) {
    this.#name = `a${index}`
    this.#client = client
    this.#tally = tally
    this.#state = index + 1
  }

  /** Creates the model that all actors need. */
  static async createModel(client: HttpClient): Promise<void> {
    const viewer = { name: 'Viewer', permissions: ['read'] }
    const derived = [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }]
    const folder = { key: 'folder', name: 'Folder', actions: { read: {} }, roles: { viewer } }
    const document = {
      key: 'document',
      name: 'Document',
      actions: { read: {} },
      relations: { parent: 'folder' },
      roles: { viewer: { ...viewer, granted_to: { users_with_role: derived } } },
    }
    for (const body of [folder, document]) {
      const { status } = await client.send('POST', `${SCHEMA}/resources`, body)
      if (status !== 200) throw new Error(`a resource could not be made: ${status}`)
    }
  }

  /** Creates the actor's part of the model. */
  async create(): Promise<void> {
    const users = Array.from({ length: USERS }, (_, user) => ({ key: this.#user(user) }))
    await this.#settle('PUT', `${FACTS}/bulk/users`, { operations: users })
    await this.#settle('POST', `${SCHEMA}/groups`, { group_instance_key: this.#name, group_tenant: TENANT })
    const operations = this.#folders.map((folder, document) => ({
      ...this.#tuple(folder, document),
      tenant: TENANT,
    }))
    await this.#settle('POST', `${FACTS}/relationship_tuples/bulk`, { operations })
  }

  /** Sends one request, and compares the response with the expected one. */
  async act(): Promise<void> {
    const dice = this.#below(16)
    if (dice % WRITE_EVERY === 1) await this.#change()
    else if (dice % SEARCH_EVERY === 2) await this.#search()
    else if (dice % BULK_EVERY === 3) await this.#bulk()
    else await this.#check()
  }

  async #check(): Promise<void> {
    const check = this.#anyCheck()
    const answer = await this.#ask('/allowed', this.#question(check))
    if (answer) this.#compare(check, (answer.body as { allow: boolean }).allow)
  }

  async #bulk(): Promise<void> {
    const checks = Array.from({ length: BULK_CHECKS }, () => this.#anyCheck())
    const answer = await this.#ask(
      '/allowed/bulk',
      checks.map(check => this.#question(check)),
    )
    if (!answer) return
    const { allow } = answer.body as { allow: { allow: boolean }[] }
    if (allow.length !== checks.length)
      this.#tally.wrongAnswer(`${allow.length} answers to ${checks.length} questions`)
    checks.forEach((check, index) => this.#compare(check, allow[index]!.allow))
  }

  async #search(): Promise<void> {
    const user = this.#below(USERS)
    const body = {
      subject: { type: 'user', id: this.#user(user) },
      action: { name: 'read' },
      resource: { type: 'document' },
    }
    const answer = await this.#ask('/access/v1/search/resource', body)
    if (!answer) return
    this.#tally.checks += 1
    const found = (answer.body as { results: { id: string }[] }).results.map(({ id }) => id).toSorted()
    const expected = this.#folders
      .flatMap((_, document) => (this.#isAllowed({ user, document }) ? [this.#document(document)] : []))
      .toSorted()
    if (found.join() !== expected.join()) {
      this.#tally.wrongAnswer(`${this.#user(user)} reads ${found.join()} and should read ${expected.join()}`)
    }
  }

  #compare(check: Check, allow: boolean): void {
    this.#tally.checks += 1
    if (allow === this.#isAllowed(check)) return
    this.#tally.wrongAnswer(`${this.#user(check.user)} reads ${this.#document(check.document)}: ${allow}`)
  }

  #isAllowed({ user, document }: Check): boolean {
    if (this.#direct.has(`${user}/${document}`)) return true
    return this.#members.has(user) && this.#granted.has(this.#folders[document]!)
  }

  /** Adds a fact if it does not exist. Otherwise removes it. */
  async #change(): Promise<void> {
    this.#tally.writes += 1
    const kind = this.#below(4)
    const [user, document, folder] = [this.#below(USERS), this.#below(DOCUMENTS), this.#below(FOLDERS)]
    if (kind === 0) {
      const name = `${user}/${document}`
      const body = {
        user: this.#user(user),
        role: 'viewer',
        resource_instance: `document:${this.#document(document)}`,
      }
      await this.#toggle(this.#direct, name, `${FACTS}/role_assignments`, body)
    } else if (kind === 1) {
      const path = `${SCHEMA}/groups/${this.#name}/users/${this.#user(user)}`
      await this.#toggle(this.#members, user, path, { tenant: TENANT }, 'PUT')
    } else if (kind === 2) {
      const body = {
        role: 'viewer',
        resource: 'folder',
        resource_instance: this.#folder(folder),
        tenant: TENANT,
      }
      await this.#toggle(this.#granted, folder, `${SCHEMA}/groups/${this.#name}/roles`, body)
    } else {
      await this.#move(document, folder)
    }
  }

  async #toggle<Fact>(
    facts: Set<Fact>,
    fact: Fact,
    path: string,
    body: unknown,
    add = 'POST',
  ): Promise<void> {
    await this.#settle(facts.has(fact) ? 'DELETE' : add, path, body)
    if (!facts.delete(fact)) facts.add(fact)
  }

  async #move(document: number, folder: number): Promise<void> {
    if (this.#folders[document] === folder) return
    await this.#settle(
      'DELETE',
      `${FACTS}/relationship_tuples`,
      this.#tuple(this.#folders[document]!, document),
    )
    await this.#settle('POST', `${FACTS}/relationship_tuples`, this.#tuple(folder, document))
    this.#folders[document] = folder
  }

  #tuple(folder: number, document: number) {
    const [subject, object] = [`folder:${this.#folder(folder)}`, `document:${this.#document(document)}`]
    return { subject, relation: 'parent', object }
  }

  /** Sends a change repeatedly until it has completed. */
  async #settle(method: string, path: string, body: unknown): Promise<void> {
    for (;;) {
      const answer = await this.#send(method, path, body)
      if (answer && (answer.status < 300 || answer.status === 409 || answer.status === 404)) return
      if (answer && answer.status !== 503) {
        this.#tally.wrongAnswer(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
        return
      }
      await sleep(RETRY_MS)
    }
  }

  /** Sends a request. Returns null if there is no response, or if the response asks the client to retry. */
  async #ask(path: string, body: unknown): Promise<Response | null> {
    const answer = await this.#send('POST', path, body)
    if (answer?.status === 200) return answer
    if (answer !== null && answer.status !== 503) this.#tally.wrongAnswer(`POST ${path}: ${answer.status}`)
    await sleep(RETRY_MS)
    return null
  }

  async #send(method: string, path: string, body: unknown): Promise<Response | null> {
    const from = performance.now()
    try {
      const answer = await this.#client().send(method, path, body)
      this.#tally.done(performance.now() - from)
      if (answer.status === 503) this.#tally.error('503')
      return answer
    } catch (error) {
      const reason = error as NodeJS.ErrnoException
      this.#tally.error(reason.code ?? reason.message)
      return null
    }
  }

  #question({ user, document }: Check) {
    const resource = { type: 'document', key: this.#document(document), tenant: TENANT }
    return { user: { key: this.#user(user) }, action: 'read', resource }
  }

  #anyCheck(): Check {
    return { user: this.#below(USERS), document: this.#below(DOCUMENTS) }
  }

  #user(user: number): string {
    return `${this.#name}-u${user}`
  }

  #document(document: number): string {
    return `${this.#name}-d${document}`
  }

  #folder(folder: number): string {
    return `${this.#name}-f${folder}`
  }

  /** Random number that depends only on the seed. */
  #below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * bound)
  }
}
