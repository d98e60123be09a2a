/**
 * Where the local copies lie: `DIRECTORY/<environment id>.copy-<number>/`, the newest one counts. A copy that is being made
 * lies beside the one in use; what is neither is removed. The dot keeps them apart from the directories of an lmdb store.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const COPY_NAME = /^(?<id>.+)\.copy-\d+$/

/** The environments of which there are copies in that directory. */
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

  /** Removes all but the newest, whose files must not be open any more. */
  removeOthers(): void {
    for (const number of this.#numbers()) if (number !== this.#newest) this.#remove(number)
  }

  /** Removes them all; none must be open any more. */
  removeAll(): void {
    for (const number of this.#numbers()) this.#remove(number)
    this.#newest = 0
  }

  /** Removes the newest one, which must not be open any more; the one before it, if any, is the newest again. */
  removeNewest(): void {
    this.#remove(this.#newest)
    this.#newest = Math.max(0, ...this.#numbers())
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
