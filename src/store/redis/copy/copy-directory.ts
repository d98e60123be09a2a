/**
 * Manages the directories of local replicas: `DIRECTORY/<environment id>.copy-<number>/`. The newest replica
 * is used. A new replica is built next to the one in use, and all others are removed. The dot in the name
 * distinguishes the directories of replicas from those of an lmdb store.
 *
 * A replica can be damaged in a way that kills the process that reads it, without an error. Therefore a start
 * leaves a note in the replica that it uses, and removes the note when the replica has been read. The note
 * counts the starts that did not complete reading the replica. This number decides whether the replica is
 * used again.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const COPY_NAME = /^(?<id>.+)\.copy-\d+$/
/**
 * File in the directory of a replica. It contains the number of consecutive starts that used the replica and
 * did not complete reading it.
 */
const STARTS_NAME = 'unfinished-starts'

/** Environments that have a replica in this directory. */
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

  /** Returns the directory of the newest replica, or null if there is none. */
  newest(): string | null {
    return this.#newest === 0 ? null : this.#path(this.#newest)
  }

  /** Returns the directory for a new replica. */
  next(): string {
    this.#newest += 1
    return this.#path(this.#newest)
  }

  /**
   * Returns the number of consecutive starts that used the newest replica and did not complete reading it.
   */
  unfinishedStarts(): number {
    try {
      return Number(readFileSync(this.#startsFile(), 'utf8')) || 0
    } catch {
      return 0
    }
  }

  /** Writes the note that a start uses the newest replica. */
  noteStart(): void {
    const starts = this.unfinishedStarts() + 1
    ifPossible(() => writeFileSync(this.#startsFile(), String(starts), { mode: 0o600 }))
  }

  /** Removes the note after the newest replica has been read. */
  noteRead(): void {
    ifPossible(() => rmSync(this.#startsFile(), { force: true }))
  }

  /** Removes all replicas except the newest. Their files must be closed. */
  removeOthers(): void {
    for (const number of this.#numbers()) if (number !== this.#newest) this.#remove(number)
  }

  /** Removes all replicas. All of them must be closed. */
  removeAll(): void {
    for (const number of this.#numbers()) this.#remove(number)
    this.#newest = 0
  }

  /**
   * Removes the newest replica, which must be closed. The previous replica, if there is one, is then the
   * newest again.
   */
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

/** If a note cannot be written, for example on a full disk, neither a start nor a shutdown must fail. */
function ifPossible(note: () => void): void {
  try {
    note()
  } catch {
    // The components that need the disk report its failure.
  }
}
