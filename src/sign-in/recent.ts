/** Texts of the last minutes, so that each is used once on this node. */
import { hash } from 'node:crypto'

/** Beyond this number, the oldest are forgotten. */
const TEXTS_MAX = 20_000

export class Recent {
  readonly #keptMs: number
  readonly #elapsedMs: () => number
  /** Times until which the texts are kept, by their hashes, in the order in which they were added. */
  readonly #until = new Map<string, number>()

  constructor(keptMs: number, elapsedMs: () => number) {
    this.#keptMs = keptMs
    this.#elapsedMs = elapsedMs
  }

  has(text: string): boolean {
    return (this.#until.get(hash('sha256', text, 'base64')) ?? 0) > this.#elapsedMs()
  }

  /** Adds a text. Returns false if it was added before. */
  add(text: string): boolean {
    const now = this.#elapsedMs()
    for (const [old, until] of this.#until) {
      if (until > now && this.#until.size < TEXTS_MAX) break
      this.#until.delete(old)
    }
    if (this.has(text)) return false
    this.#until.set(hash('sha256', text, 'base64'), now + this.#keptMs)
    return true
  }
}
