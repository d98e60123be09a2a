/**
 * Records the time at which a local replica last had everything that Redis had, in a file in the directory of
 * the replica. A start that cannot reach Redis uses this time. The file has a fixed size, is overwritten in
 * place and is not flushed. After a crash of the machine, it contains an older time or no time. The data that
 * the replica had at that time is on disk before the time is recorded.
 *
 * There are two clocks, and the one that returns the greater age is used. The wall clock might have been set
 * back. The other clock counts from the boot of the machine, and is not valid after the next boot. A time in
 * the future is ignored.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Name of the record, which is a file in the directory of a replica. */
const NAME = 'heard'
const BYTES = 256

export interface SyncClocks {
  /** Milliseconds since 1970. */
  wallMs(): number
  /** Returns the milliseconds since a fixed moment of the current boot. */
  sinceBootMs(): number
  /** Id of the boot of the machine; null if the system does not provide it. */
  readonly boot: string | null
}

interface RecordedTimes {
  /** The store that is replicated. */
  readonly store: string
  readonly wallMs: number
  readonly boot: string | null
  readonly sinceBootMs: number
}

export class LastSyncRecord {
  readonly #path: string
  readonly #store: string
  readonly #clocks: SyncClocks
  #file: number | null = null

  /** `store` identifies the store that is replicated. A record of another store is ignored. */
  constructor(directory: string, store: string, clocks: SyncClocks = CLOCKS) {
    this.#path = join(directory, NAME)
    this.#store = store
    this.#clocks = clocks
  }

  /** Whether a time of this store was recorded. */
  isOfStore(): boolean {
    return this.#read()?.store === this.#store
  }

  /**
   * Returns the number of milliseconds since the recorded time, or null if this time is unknown. Uses the
   * clock that returns the greater age.
   */
  agoMs(): number | null {
    const noted = this.#read()
    if (noted === null || noted.store !== this.#store) return null
    const { boot, wallMs, sinceBootMs } = this.#clocks
    const agesMs = [wallMs() - noted.wallMs]
    if (boot !== null && noted.boot === boot) agesMs.push(sinceBootMs() - noted.sinceBootMs)
    const agoMs = Math.max(...agesMs)
    return agoMs >= 0 ? agoMs : null
  }

  /**
   * Records that the replica had everything `agoMs` milliseconds ago. Ignores a failure of the disk, so that
   * decisions continue.
   */
  note(agoMs: number): void {
    const { boot, wallMs, sinceBootMs } = this.#clocks
    const noted: RecordedTimes = {
      store: this.#store,
      wallMs: Math.floor(wallMs() - agoMs),
      boot,
      sinceBootMs: Math.floor(sinceBootMs() - agoMs),
    }
    try {
      this.#file ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      writeSync(this.#file, JSON.stringify(noted).padEnd(BYTES), 0)
    } catch {
      // The components that need the disk report its failure.
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #read(): RecordedTimes | null {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as RecordedTimes
    } catch {
      return null
    }
  }
}

const CLOCKS: SyncClocks = {
  wallMs: Date.now,
  sinceBootMs: () => Number(process.hrtime.bigint() / 1_000_000n),
  boot: bootName(),
}

/** Returns the id of the current boot, or null on systems other than Linux. */
function bootName(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}
