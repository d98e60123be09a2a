/**
 * Where the local copies lie: `DIRECTORY/<environment id>.copy-<number>/`, the newest one counts. A copy that is being made
 * lies beside the one in use; what is neither is removed. The dot keeps them apart from the directories of an lmdb store.
 *
 * A copy may be damaged in ways that end whoever reads it, without a word. So a start leaves a note in the copy that it begins
 * with, and takes it away when the copy has been read; how many notes there are says whether to begin with that copy again.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const COPY_NAME = /^(?<id>.+)\.copy-\d+$/
/** A file in the directory of a copy: how many starts in a row have begun with the copy and not got through it. */
const STARTS_NAME = 'unfinished-starts'

/** The environments that have a copy in that directory. */
export function copiedEnvironments(directory: string): Set<string> {
  return new Set(readdirSync(directory).flatMap(name => COPY_NAME.exec(name)?.groups?.['id'] ?? []))
}

export class CopyDirectory {
  readonly #directory: string
  readonly #environmentId: string
  #newest: number

  constructor(directory: string, environmentId: string) {
    this.#directory = directory
    this.#environmentId = environmentId
    this.#newest = Math.max(0, ...this.#numbers())
  }

  /** The directory of the newest copy; null when there is none. */
  newest(): string | null {
    return this.#newest === 0 ? null : this.#path(this.#newest)
  }

  /** A directory for a copy that is about to be made. */
  next(): string {
    this.#newest += 1
    return this.#path(this.#newest)
  }

  /** How many starts in a row have begun with the newest copy and not got through it. */
  unfinishedStarts(): number {
    try {
      return Number(readFileSync(this.#startsFile(), 'utf8')) || 0
    } catch {
      return 0
    }
  }

  /** Notes that a start begins with the newest copy. */
  noteStart(): void {
    const starts = this.unfinishedStarts() + 1
    ifPossible(() => writeFileSync(this.#startsFile(), String(starts), { mode: 0o600 }))
  }

  /** Notes that the newest copy has been read. */
  noteRead(): void {
    ifPossible(() => rmSync(this.#startsFile(), { force: true }))
  }

  /** Removes all copies but the newest. Their files must not be open any more. */
  removeOthers(): void {
    for (const number of this.#numbers()) if (number !== this.#newest) this.#remove(number)
  }

  /** Removes all copies. None must be open any more. */
  removeAll(): void {
    for (const number of this.#numbers()) this.#remove(number)
    this.#newest = 0
  }

  /** Removes the newest copy, which must not be open any more. The copy before it, if any, is the newest again. */
  removeNewest(): void {
    this.#remove(this.#newest)
    this.#newest = Math.max(0, ...this.#numbers())
  }

  #startsFile(): string {
    return join(this.#path(this.#newest), STARTS_NAME)
  }

  #remove(number: number): void {
    rmSync(this.#path(number), { recursive: true, force: true })
  }

  #path(number: number): string {
    return join(this.#directory, `${this.#environmentId}.copy-${number}`)
  }

  #numbers(): number[] {
    const prefix = `${this.#environmentId}.copy-`
    return readdirSync(this.#directory)
      .filter(name => name.startsWith(prefix))
      .map(name => Number(name.slice(prefix.length)))
      .filter(number => Number.isSafeInteger(number) && number > 0)
  }
}

/** A note that cannot be made, as on a full disk, must stop neither a start nor an end. */
function ifPossible(note: () => void): void {
  try {
    note()
  } catch {
    // A disk that fails is reported by those who need it.
  }
}
