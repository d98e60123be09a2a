/** The sessions of members on this node: the directory of accepted sessions, and their uses. */
import type { Config } from '#config/settings.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { OrganizationState } from '#management/organization/organization.ts'
import {
  type CommittedRows,
  SessionDirectory,
  type SessionUse,
} from '#management/sessions/session-directory.ts'
import type { SessionLookup } from '#management/scopes/organization-context.ts'
import { SessionUses } from '#management/sessions/session-uses.ts'
import { assert } from '#model/assert.ts'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import type { HttpThreads } from '#threads/channel/http-threads.ts'
import type { InitialSessions } from '#threads/channel/session-authentication.ts'

const NO_PLACES = { organizationId: '', projects: [], environments: [] }

export class NodeSessions {
  readonly directory: SessionDirectory
  readonly uses: SessionUses
  /** For operations of the organization. */
  readonly context: SessionLookup

  /** Returns null if sign-in is not configured. */
  static of(config: Config, organization: OrganizationState, runtime: RuntimeServices): NodeSessions | null {
    return config.oidcIssuer === null
      ? null
      : new NodeSessions(config, config.oidcIssuer, organization, runtime)
  }

  private constructor(
    config: Config,
    issuer: string,
    organization: OrganizationState,
    { now }: Pick<RuntimeServices, 'now'>,
  ) {
    const idleMs = config.sessionIdleSeconds * 1_000
    const owners = { owners: new Set(config.oidcOwners), ownerGroups: new Set(config.oidcOwnerGroups) }
    this.uses = new SessionUses({ now, idleMs })
    this.context = { sessionIdleMs: idleMs, lastUseOf: this.uses.lastUseOf }
    this.directory = new SessionDirectory({
      records: () => new RecordReader(organization.store.view),
      // A history that another node has begun can be without an organization.
      places: () => (organization.isThere() ? organization.placeNames() : NO_PLACES),
      issuer,
      owners,
      times: { sessionIdleMs: idleMs },
      now,
      pause: () => new Promise(resolve => setImmediate(resolve)),
    })
  }

  /** Loads the sessions that threads start with. */
  async initial(): Promise<InitialSessions> {
    await this.directory.load()
    const { places } = this.directory
    assert(places, 'a load reads the places')
    return { places, groups: this.directory.groups(), sessions: [...this.directory.all()] }
  }

  /** Records a use that a thread has reported. */
  noteUse(sessionId: string): SessionUse {
    const use = this.uses.note(sessionId)
    this.directory.noteUse(use)
    return use
  }
}

interface EnvironmentFollower {
  load(): Promise<void>
  apply(): Promise<void>
}

/** Applies commits of the organization to the sessions, and then to the keys and environments. */
export class OrganizationFollower {
  readonly #environments: EnvironmentFollower
  readonly #sessions: SessionDirectory | null
  readonly #threads: Pick<HttpThreads, 'applySessions'>

  constructor(
    environments: EnvironmentFollower,
    { sessions, threads }: { sessions: SessionDirectory | null; threads: Pick<HttpThreads, 'applySessions'> },
  ) {
    this.#environments = environments
    this.#sessions = sessions
    this.#threads = threads
  }

  async load(): Promise<void> {
    if (this.#sessions !== null) await this.#threads.applySessions(await this.#sessions.load())
    await this.#environments.load()
  }

  async apply(rows: CommittedRows): Promise<void> {
    if (this.#sessions === null) return this.#environments.apply()
    await this.#threads.applySessions(await this.#sessions.apply(rows))
    if (concernsEnvironments(rows)) await this.#environments.apply()
  }
}

/** Kinds of rows that are not part of keys or environments. A sign-in writes only such rows. */
const OF_MEMBERS: ReadonlySet<number> = new Set([
  KIND_BYTES.session,
  KIND_BYTES.member,
  KIND_BYTES['member-group'],
  KIND_BYTES.audit,
  KIND_BYTES.organization,
])

function concernsEnvironments({ put, delete: deleted }: CommittedRows): boolean {
  return put.some(({ key }) => !OF_MEMBERS.has(key[0]!)) || deleted.some(key => !OF_MEMBERS.has(key[0]!))
}
