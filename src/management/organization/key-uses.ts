/**
 * Records when API keys were last used, with a precision of ten minutes. A use costs its thread one check of
 * a flag. The first use in each ten minutes is reported to the main thread, which stores one time per key
 * here. From time to time, one commit writes the unsaved times into the rows of the keys. The other nodes
 * receive them with this commit. The latest time wins. Unsaved times are lost when a process ends.
 */
import type { Instant } from '#entities/instant.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import { isRetryable } from '#management/drafts/retryable-errors.ts'
import type { OrganizationState } from './organization.ts'

/** Interval of writing unsaved times. */
const WRITE_EVERY_MS = 300_000

export class KeyUses {
  readonly #now: () => number
  /** Times that are not in the rows yet, by key id. */
  readonly #pending = new Map<string, Instant>()
  #writing: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records that a thread has accepted the key. */
  note(keyId: string): void {
    const now = this.#now()
    this.#pending.set(keyId, now - (now % KEY_USE_GRAIN_MS))
  }

  /** Last use that this process has recorded and not saved yet; null if none. */
  readonly lastUseOf = (keyId: string): Instant | null => this.#pending.get(keyId) ?? null

  /**
   * Starts saving periodically, until `close`. `mayWrite`: whether the organization's store accepts writes at
   * present.
   */
  begin(
    organization: OrganizationState,
    { mayWrite, onFault }: { readonly mayWrite: () => boolean; readonly onFault: (error: unknown) => void },
  ): void {
    this.#writing = setInterval(() => {
      if (mayWrite()) void this.write(organization).catch(onFault)
    }, WRITE_EVERY_MS)
    this.#writing.unref()
  }

  close(): void {
    clearInterval(this.#writing)
  }

  /** Saves the recorded times. If the store does not accept commits, the times are kept and saved later. */
  async write(organization: OrganizationState): Promise<void> {
    const uses = new Map(this.#pending)
    if (uses.size === 0) return
    try {
      await organization.noteUses(uses)
    } catch (error) {
      if (!isRetryable(error)) throw error
      return
    }
    // Times that were recorded during the commit are kept.
    for (const [keyId, at] of uses) if (this.#pending.get(keyId) === at) this.#pending.delete(keyId)
  }
}
