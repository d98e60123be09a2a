/**
 * When keys were last used, to ten minutes. A use costs its thread a look at a flag; the first one of ten minutes is told to the main
 * thread, which keeps it here: no more than one moment a key. What is news goes into the rows of keys now and then, all in one
 * commit, and so to the other nodes. The later one wins. What was not written when a process ends is lost.
 */
import type { Instant } from '#model/records.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import { isForLater } from '#management/commands/later.ts'
import type { Organization } from './organization.ts'

/** How often what is news is written. */
const WRITE_EVERY_MS = 300_000

export class KeyUses {
  readonly #now: () => number
  /** What is not in the rows yet, by the key's id. */
  readonly #heard = new Map<string, Instant>()
  #writing: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** A thread has let somebody in with that key. */
  note(keyId: string): void {
    const now = this.#now()
    this.#heard.set(keyId, now - (now % KEY_USE_GRAIN_MS))
  }

  /** What this process has heard of the key and not written yet. */
  readonly lastUseOf = (keyId: string): Instant | null => this.#heard.get(keyId) ?? null

  /** Writes now and then, until it is closed. `mayWrite`: whether the organization can be written at present. */
  begin(
    organization: Organization,
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

  /** Writes what is news. Where the store cannot take it, it is kept for the next time. */
  async write(organization: Organization): Promise<void> {
    const heard = new Map(this.#heard)
    if (heard.size === 0) return
    try {
      await organization.noteUses(heard)
    } catch (error) {
      if (!isForLater(error)) throw error
      return
    }
    // Not what came meanwhile.
    for (const [keyId, at] of heard) if (this.#heard.get(keyId) === at) this.#heard.delete(keyId)
  }
}
