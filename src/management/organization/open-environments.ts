/**
 * Keeps the open environments, and the keys that open them, level with what the organization says there is. It is told of
 * every change of the organization, whichever node made it, and compares the two. Whoever changes the organization waits
 * for that (`Replica`). So a start, a creation here and a creation elsewhere are the same.
 *
 * Keys go first: when an environment is closed for good, nobody has a key to it any more. An environment that cannot be
 * decided on keeps its keys, and no other environment waits for it (`live-environment.ts`).
 */
import type { EnvironmentService } from '#management/environment/environment-service.ts'
import { AuthzError } from '#model/errors.ts'
import type { Closure } from '#replica/closed-environment.ts'
import type { KnownEnvironment, KnownSecret, Organization } from './organization.ts'

export interface OpenEnvironment {
  /** Null while its store cannot be opened. */
  readonly service: EnvironmentService | null
  /** Null while the environment is decided on. */
  readonly closure: Closure | null
  /** Whether something was committed in it; false, too, where that cannot be read. */
  readonly isBegun: boolean
  /** Reports that its index cannot be decided on any more. */
  fail(error: unknown): void
  /** Ends its work, and saves for the next start what that need not make again. */
  close(): Promise<void>
  /** Ends its work, and removes all it holds here and in the store. Safe to repeat. */
  remove(): Promise<void>
}

export interface ManagedEnvironment extends KnownEnvironment {
  /** Null while it is not open, or its store cannot be opened. */
  readonly service: EnvironmentService | null
  /** The reason why it cannot be decided on; null: it can, or is not open. */
  readonly closure: Closure | null
}

/** A load takes some 100 MB while it lasts. */
const OPENED_AT_ONCE = 4
/** How soon a note about an environment is tried again. */
const NOTE_AGAIN_MS = 10_000

export interface OpenEnvironmentsOptions {
  readonly organization: Organization
  /** Opens an environment, so that it decides, or closes it with a reason. Makes its store if it is new. */
  open(known: KnownEnvironment): Promise<OpenEnvironment>
  /** Removes what a store holds of an environment that is not open. Safe to repeat. */
  drop(environmentId: string): Promise<void>
  /** Removes local copies of environments that others removed while this process was not running. */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /** Whether the organization can be written at present. */
  mayNote(): boolean
  /** Resolves when every thread goes by these secrets. */
  replaceSecrets(secrets: readonly KnownSecret[]): Promise<void>
  /**
   * Told of an environment that could not be removed, or that met a defect when it was opened. It is tried again at the
   * next change, or the next start.
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
    // The open environments belong to a history that is gone. They go with the first commit of the new history.
    if (!organization.isThere()) return
    // Read at one moment: an environment that is removed meanwhile is left to the next round, or it would be opened again.
    this.#known = organization.environments()
    const noted = organization.removedEnvironmentIds()
    await this.#options.replaceSecrets(organization.secrets())
    await this.#removeOthers(noted)
    const isToOpen = (known: KnownEnvironment): boolean =>
      !known.isBeingLoaded && !this.#open.has(known.scope.environmentId)
    const waiting = this.#known.filter(isToOpen).values()
    // An environment that takes long delays only those after it in the same row.
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

  /** Reports that the index of an environment cannot be decided on any more. */
  fail(environmentId: string, error: unknown): void {
    this.#open.get(environmentId)?.fail(error)
  }

  /** Throws the first error of any of them, when all have ended. */
  async close(): Promise<void> {
    clearTimeout(this.#noting)
    this.#isClosed = true
    // All at once: one that waits for its server delays no other.
    const closings = await Promise.allSettled(Array.from(this.#open.values(), open => open.close()))
    for (const closing of closings) if (closing.status === 'rejected') throw closing.reason
  }

  /**
   * Notes that environments have begun, before anybody hears that one is open. If nothing of it is found later, the note
   * shows that it was lost. An environment that cannot be noted is decided on all the same, and noted later.
   */
  async #noteBegun(): Promise<void> {
    clearTimeout(this.#noting)
    try {
      if (await this.#noteEachBegun()) return
    } catch (error) {
      // Another node may be making the same note. A store that is away reports that itself.
      if (!(error instanceof AuthzError)) this.#options.onFault(error)
    }
    if (this.#isClosed) return
    this.#noting = setTimeout(() => void this.#noteBegun(), NOTE_AGAIN_MS)
    this.#noting.unref()
  }

  /** Whether all open environments have been noted. */
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

  /** Removes environments that are open and not known any more, and leftovers of removed ones. */
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
