/**
 * Numbers attribute names, so that a row of attributes (`attribute-rows.ts`) contains a number where JSON
 * contains a name. The first 4,096 names in an index receive a permanent number. An entity with other names
 * stores its attributes as JSON.
 *
 *   header: directory, count ─► directory ─► 64 pages ─► 64 names each ─► │ bytes │ UTF-8, zero-padded │
 *
 * Only the writer adds names (`numbered-names.ts`). Names within the count never change, so a thread caches
 * those that it has read. A thread might read a count that is newer than its view of the graph. It then reads
 * the missing names later.
 */
import * as L from './layout.ts'
import { textIn } from './values.ts'

export const NAMES_MAX = 4_096
export const PAGE_LOG2 = 6
export const PAGE_MASK = (1 << PAGE_LOG2) - 1

/** The views of the regions. Growing a region replaces them. */
interface Views {
  readonly header: Int32Array
  readonly graph: Int32Array
}

export class AttributeNames {
  readonly #views: Views
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()

  constructor(views: Views) {
    this.#views = views
  }

  /**
   * Number of names that this thread has read. If it has increased, a name without a number might have one
   * now.
   */
  get known(): number {
    return this.#texts.length
  }

  /** Returns the number of a name, or -1 if it has none. Expected O(1). */
  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1
  }

  /**
   * Returns the name with this number. A torn read can supply a number without a name; the result is then the
   * empty text.
   */
  textOf(number: number): string {
    if (number >= this.#texts.length) this.refresh()
    return this.#texts[number] ?? ''
  }

  /** Reads the names that were added since the last call. O(1) if there are none. */
  refresh(): void {
    const { header, graph } = this.#views
    if (header[L.H_NAMES] === this.#texts.length) return
    // Acquire: all names up to this count have been written.
    const count = Atomics.load(header, L.H_NAMES)
    for (let number = this.#texts.length; number < count; number++) {
      const page = graph[header[L.H_NAME_DIRECTORY]! + (number >>> PAGE_LOG2)]
      const block = page && graph[page + (number & PAGE_MASK)]
      const bytes = block && graph[block]
      if (!bytes || block + ((bytes + 3) >>> 2) >= graph.length) return
      this.note(textIn(graph, block + 1, bytes))
    }
  }

  /** Records that the writer has given this name the next number. */
  note(name: string): void {
    this.#numbers.set(name, this.#texts.length)
    this.#texts.push(name)
  }
}
