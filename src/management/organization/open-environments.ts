/**
 * Keeps what is open here level with what the organization says there is: environments, and the keys that open them. It
 * is told of every change of the organization, whichever node made it, and compares the two; whoever changes the
 * organization waits until it has (`Replica`). One place, so that a start, a creation here and one elsewhere are the same.
 *
 * Keys go first: when an environment is closed for good, nobody has a key to it any more. One that cannot be decided on keeps its
 * keys, and none of the others waits for it (`live-environment.ts`).
 */
import type { EnvironmentService } from '#management/environment/environment-service.ts'
import { AuthzError } from '#model/errors.ts'
import type { Closure } from '#replica/closure.ts'
import type { KnownEnvironment, KnownSecret, Organization } from './organization.ts'

export interface OpenEnvironment {
  /** Null while what is stored of it cannot be opened. */
  readonly service: EnvironmentService | null
  /** Null while it is decided on. */
  readonly closure: Closure | null
  /** Whether something was committed in it; false, too, where that cannot be read. */
  readonly isBegun: boolean
  /** Its index cannot be decided on any more. */
  fail(error: unknown): void
  /** Ends what goes on in it, and keeps for the next start what that need not make again. */
  close(): Promise<void>
  /** Ends what goes on in it, and removes all it holds here and in the store. Safe to repeat. */
  remove(): Promise<void>
}

export interface ManagedEnvironment extends KnownEnvironment {
  /** Null while it is not open, or what is stored of it cannot be opened. */
  readonly service: EnvironmentService | null
  /** Why it cannot be decided on; null: it can, or is not open. */
  readonly closure: Closure | null
}

/** A load takes some 100 MB for itself, for as long as it lasts. */
const OPENED_AT_ONCE = 4
/** How soon that is tried again which could not be noted of an environment. */
const NOTE_AGAIN_MS = 10_000

export interface OpenEnvironmentsOptions {
  readonly organization: Organization
  /** Opens an environment, so that it decides, or closes it for a reason; makes its store if it is new. */
  open(known: KnownEnvironment): Promise<OpenEnvironment>
  /** Removes what a store holds of an environment that is not open. Safe to repeat. */
  drop(environmentId: string): Promise<void>
  /** Removes what is kept here of environments that others removed while this process was not there. */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /** Whether the organization can be written to just now. */
  mayNote(): boolean
  /** Resolves when every thread goes by these secrets. */
  replaceSecrets(secrets: readonly KnownSecret[]): Promise<void>
  /** An environment could not be removed, or one of those to open met a defect of ours; that is tried again at the next change, or the next start. */
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
    // What is open then belongs to a history that is gone: it goes with the first commit of the new one.
    if (!organization.isThere()) return
    // All at one moment: what is removed while this goes on is the next round's, or it would be opened again.
    this.#known = organization.environments()
    const noted = organization.removedEnvironmentIds()
    await this.#options.replaceSecrets(organization.secrets())
    await this.#removeOthers(noted)
    const isToOpen = (known: KnownEnvironment): boolean =>
      !known.isBeingLoaded && !this.#open.has(known.scope.environmentId)
    const waiting = this.#known.filter(isToOpen).values()
    // One that is long in coming delays no more than what comes behind it.
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

  /** The environments callers may name, in creation order. */
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

  /** Why an environment, hidden or not, cannot be decided on; null: it can, or is not open. */
  closureOf(environmentId: string): Closure | null {
    return this.#open.get(environmentId)?.closure ?? null
  }

  /** The index of an environment cannot be decided on any more. */
  fail(environmentId: string, error: unknown): void {
    this.#open.get(environmentId)?.fail(error)
  }

  /** Throws what one of them met, when all have ended. */
  async close(): Promise<void> {
    clearTimeout(this.#noting)
    this.#isClosed = true
    // Together: one that waits for its server delays none of the others.
    const closings = await Promise.allSettled(Array.from(this.#open.values(), open => open.close()))
    for (const closing of closings) if (closing.status === 'rejected') throw closing.reason
  }

  /**
   * Before anybody hears that one is open: who finds nothing of it later knows by that note that it was lost. One that cannot be
   * noted is decided on all the same, and noted later.
   */
  async #noteBegun(): Promise<void> {
    clearTimeout(this.#noting)
    try {
      if (await this.#noteEachBegun()) return
    } catch (error) {
      // Another node may be noting the same, and the store may be away: it says so itself.
      if (!(error instanceof AuthzError)) this.#options.onFault(error)
    }
    if (this.#isClosed) return
    this.#noting = setTimeout(() => void this.#noteBegun(), NOTE_AGAIN_MS)
    this.#noting.unref()
  }

  /** Whether all that are open have been noted. */
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

  /** Removes what is open and not known, and what a crash left of environments that were removed. */
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
