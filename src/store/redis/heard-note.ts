/**
 * When a local copy last had everything that Redis had, kept beside it: what a start goes by that finds no Redis. A file of a
 * fixed size, overwritten in place, not flushed: a crash of the machine leaves an older moment or none, and what the copy has
 * had by then is on disk before the moment is noted.
 *
 * Two clocks, and the older of the two answers counts: that of the wall may have been set back; the other one counts on from
 * the boot of the machine, and says nothing after the next. A moment in the future is none.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The file in the directory of a copy. */
const NAME = 'heard'
const BYTES = 256

export interface Clocks {
  /** Milliseconds since 1970. */
  wallMs(): number
  /** Milliseconds since some moment of this boot. */
  sinceBootMs(): number
  /** Names the boot of the machine; null where the system does not tell it. */
  readonly boot: string | null
}

interface Noted {
  /** The store that the copy is of. */
  readonly store: string
  readonly wallMs: number
  readonly boot: string | null
  readonly sinceBootMs: number
}

export class HeardNote {
  readonly #path: string
  readonly #store: string
  readonly #clocks: Clocks
  #file: number | null = null

  /** `store` names the store that the copy is of. A note about another store does not count. */
  constructor(directory: string, store: string, clocks: Clocks = CLOCKS) {
    this.#path = join(directory, NAME)
    this.#store = store
    this.#clocks = clocks
  }

  /** How long ago that moment is, at the least, in milliseconds; null when it is unknown. */
  agoMs(): number | null {
    const noted = this.#read()
    if (noted === null || noted.store !== this.#store) return null
    const { boot, wallMs, sinceBootMs } = this.#clocks
    const agesMs = [wallMs() - noted.wallMs]
    if (boot !== null && noted.boot === boot) agesMs.push(sinceBootMs() - noted.sinceBootMs)
    const agoMs = Math.max(...agesMs)
    return agoMs >= 0 ? agoMs : null
  }

  /** Notes that the copy had everything `agoMs` milliseconds ago. A disk that takes no note stops no decisions. */
  note(agoMs: number): void {
    const { boot, wallMs, sinceBootMs } = this.#clocks
    const noted: Noted = {
      store: this.#store,
      wallMs: Math.floor(wallMs() - agoMs),
      boot,
      sinceBootMs: Math.floor(sinceBootMs() - agoMs),
    }
    try {
      this.#file ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      writeSync(this.#file, JSON.stringify(noted).padEnd(BYTES), 0)
    } catch {
      // A disk that fails is reported by those who need it.
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #read(): Noted | null {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as Noted
    } catch {
      return null
    }
  }
}

const CLOCKS: Clocks = {
  wallMs: Date.now,
  sinceBootMs: () => Number(process.hrtime.bigint() / 1_000_000n),
  boot: bootName(),
}

/** Only Linux has a boot id. */
function bootName(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}
