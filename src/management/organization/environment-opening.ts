/**
 * Opens and closes environments: keeps the open environments and the accepted API keys in sync with the
 * organization's records. After every change of the organization, by any node, it compares the two. Commands
 * that change the organization wait for that (`Replica`). Therefore, startup, a creation on this node and a
 * creation on another node work in the same way.
 *
 * Keys are replaced first: when an environment is removed, no key for it is valid any longer. An environment
 * that cannot make decisions keeps its keys, and no other environment waits for it (`live-environment.ts`).
 */
import type { EnvironmentService } from '#management/environment/environment-service.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { environmentNotOpen } from '#management/scopes/organization-context.ts'
import { AuthzError } from '#model/errors.ts'
import { type Closure, environmentClosed } from '#replica/closed-environment.ts'
import type { KnownEnvironment, KnownSecret, OrganizationState } from './organization.ts'

export interface OpenEnvironment {
  /** Null while its store cannot be opened. */
  readonly service: EnvironmentService | null
  /** Null while the environment makes decisions. */
  readonly closure: Closure | null
  /** Whether it has at least one commit; also false if that cannot be read. */
  readonly isBegun: boolean
  /** Reports that its index can no longer be used. */
  fail(error: unknown): void
  /** Stops its work, and saves state that speeds up the next start. */
  close(): Promise<void>
  /** Stops its work, and deletes all its data in this process and in the store. Idempotent. */
  remove(): Promise<void>
}

export interface ManagedEnvironment extends KnownEnvironment {
  /** Null while it is not open, or its store cannot be opened. */
  readonly service: EnvironmentService | null
  /** Reason why it makes no decisions; null if it does, or if it is not open. */
  readonly closure: Closure | null
}

/** Environments that are loaded concurrently. Loading one takes about 100 MB. */
const OPENED_AT_ONCE = 4
/** Delay before recording that environments have begun is retried. */
const NOTE_AGAIN_MS = 10_000

export interface OpenEnvironmentsOptions {
  readonly organization: OrganizationState
  /**
   * Opens an environment, so that it makes decisions, or closes it with a reason. Creates its store if it is
   * new.
   */
  open(known: KnownEnvironment): Promise<OpenEnvironment>
  /** Deletes the stored data of an environment that is not open. Idempotent. */
  drop(environmentId: string): Promise<void>
  /** Removes local replicas of environments that were removed while this process was not running. */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /** Whether the store of the organization accepts writes at present. */
  mayNote(): boolean
  /** Resolves when every thread uses these secrets. */
  replaceSecrets(secrets: readonly KnownSecret[]): Promise<void>
  /**
   * Receives the error if an environment could not be removed, or if a defect occurred while opening it. Both
   * are retried at the next change or the next start.
   */
  onFault(error: unknown): void
}

export class OpenEnvironments {
  readonly #options: OpenEnvironmentsOptions
  readonly #open = new Map<string, OpenEnvironment>()
  #known: readonly KnownEnvironment[] = []
  #noting: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: OpenEnvironmentsOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    await this.apply()
    this.#options.discardCopies({ except: new Set(this.#known.map(({ scope }) => scope.environmentId)) })
  }

  async apply(): Promise<void> {
    const { organization } = this.#options
    // In this case, the history was replaced, and the open environments belong to the former one. They are
    // removed with the first commit of the new history.
    if (!organization.isThere()) return
    // Both are read at the same time. If an environment is removed concurrently, the next run removes it.
    // Otherwise, this run could open it again.
    this.#known = organization.environments()
    const noted = organization.removedEnvironmentIds()
    await this.#options.replaceSecrets(organization.secrets())
    await this.#removeOthers(noted)
    const isToOpen = (known: KnownEnvironment): boolean =>
      !known.isBeingLoaded && !this.#open.has(known.scope.environmentId)
    const waiting = this.#known.filter(isToOpen).values()
    // An environment that takes long to open delays only the environments that the same worker opens after
    // it.
    const openOneByOne = async (): Promise<void> => {
      for (const known of waiting) await this.#openOne(known)
    }
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openOneByOne))
    await this.#noteBegun()
  }

  async #openOne(known: KnownEnvironment): Promise<void> {
    try {
      this.#open.set(known.scope.environmentId, await this.#options.open(known))
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  /** The environments that paths can name, in creation order. */
  all(): ManagedEnvironment[] {
    return this.#known.flatMap(known =>
      known.isHidden ? [] : [{ ...known, ...this.#stateOf(known.scope.environmentId) }],
    )
  }

  #stateOf(environmentId: string): Pick<ManagedEnvironment, 'service' | 'closure'> {
    return { service: this.serviceOf(environmentId), closure: this.closureOf(environmentId) }
  }

  /** The service of an environment, hidden or not; null while it is not open. */
  serviceOf(environmentId: string): EnvironmentService | null {
    return this.#open.get(environmentId)?.service ?? null
  }

  /** Reason why an environment, hidden or not, makes no decisions; null if it does, or if it is not open. */
  closureOf(environmentId: string): Closure | null {
    return this.#open.get(environmentId)?.closure ?? null
  }

  /** Records of an environment. Throws `NOT_READY` or `ENVIRONMENT_CLOSED` if it cannot be read here. */
  recordsOf(environmentId: string): RecordReader {
    return openService(this.#stateOf(environmentId)).reader()
  }

  /** Reports that the index of an environment can no longer be used. */
  fail(environmentId: string, error: unknown): void {
    this.#open.get(environmentId)?.fail(error)
  }

  /** Closes all environments. Then throws the first error of any of them. */
  async close(): Promise<void> {
    clearTimeout(this.#noting)
    this.#isClosed = true
    // All are closed concurrently, so that an environment that waits for its server does not delay the
    // others.
    const closings = await Promise.allSettled(Array.from(this.#open.values(), open => open.close()))
    for (const closing of closings) if (closing.status === 'rejected') throw closing.reason
  }

  /**
   * Records that environments have begun, before clients learn that they are open. The record shows later
   * that missing data was lost. If the record cannot be written, the environment makes decisions
   * nevertheless, and the write is retried later.
   */
  async #noteBegun(): Promise<void> {
    clearTimeout(this.#noting)
    try {
      if (await this.#noteEachBegun()) return
    } catch (error) {
      // An `AuthzError` is not reported: another node may be writing the same record, and an unavailable
      // store is reported elsewhere.
      if (!(error instanceof AuthzError)) this.#options.onFault(error)
    }
    if (this.#isClosed) return
    this.#noting = setTimeout(() => void this.#noteBegun(), NOTE_AGAIN_MS)
    this.#noting.unref()
  }

  /** Returns whether all open environments have been recorded. */
  async #noteEachBegun(): Promise<boolean> {
    const { organization, mayNote } = this.#options
    const open = this.#known.filter(({ scope, isBeingLoaded }) => {
      const { environmentId } = scope
      return !isBeingLoaded && this.#open.has(environmentId) && !organization.isBegun(environmentId)
    })
    const ids = open.map(({ scope }) => scope.environmentId)
    const begun = ids.filter(id => this.#open.get(id)?.isBegun)
    if (begun.length > 0 && mayNote()) await organization.noteBegun(begun)
    return ids.every(id => organization.isBegun(id))
  }

  /** Removes open environments that are no longer in the organization, and the data of removed ones. */
  async #removeOthers(noted: readonly string[]): Promise<void> {
    const { organization, drop, onFault } = this.#options
    const known = new Set(this.#known.map(({ scope }) => scope.environmentId))
    const unknown = [...this.#open.keys()].filter(id => !known.has(id))
    for (const id of new Set([...unknown, ...noted])) {
      try {
        const open = this.#open.get(id)
        await (open ? open.remove() : drop(id))
        this.#open.delete(id)
        if (noted.includes(id)) await organization.forgetRemoved(id)
      } catch (error) {
        onFault(error)
      }
    }
  }
}

/**
 * Management of an open environment. Throws `NOT_READY`, or `ENVIRONMENT_CLOSED` if the environment cannot be
 * read.
 */
export function openService({
  service,
  closure,
}: Pick<ManagedEnvironment, 'service' | 'closure'>): EnvironmentService {
  if (service) return service
  if (closure) throw environmentClosed(closure.reason)
  return environmentNotOpen()
}
