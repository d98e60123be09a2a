/**
 * Numbers of attribute names, so that a row of attributes (`attribute-rows.ts`) has a number where JSON has a name. The first 4,096
 * names that an index meets get one, and keep it; an owner with others keeps its attributes as JSON.
 *
 *   header: directory, count ─► directory ─► 64 pages ─► 64 names each ─► │ bytes │ UTF-8, zero-padded │
 *
 * Only the writer adds names (`numbered-names.ts`). What is counted never changes, so a thread keeps what it has read. It may have read the count of a state
 * that its view of the graph is too old for: then the rest is read later.
 */
import * as L from './layout.ts'
import { textIn } from './values.ts'

export const NAMES_MAX = 4_096
export const PAGE_LOG2 = 6
export const PAGE_MASK = (1 << PAGE_LOG2) - 1

/** The regions, of which views are replaced. */
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

  /** How many this thread knows. Whether another name has a number is to be asked again when there are more. */
  get known(): number {
    return this.#texts.length
  }

  /** The number of a name, -1 if it has none. Expected O(1). */
  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1
  }

  /** The empty text where the number is that of a torn read. */
  textOf(number: number): string {
    if (number >= this.#texts.length) this.refresh()
    return this.#texts[number] ?? ''
  }

  /** Reads the names that were added meanwhile. O(1) where there are none. */
  refresh(): void {
    const { header, graph } = this.#views
    if (header[L.H_NAMES] === this.#texts.length) return
    // Acquire: what is counted has been written.
    const count = Atomics.load(header, L.H_NAMES)
    for (let number = this.#texts.length; number < count; number++) {
      const page = graph[header[L.H_NAME_DIRECTORY]! + (number >>> PAGE_LOG2)]
      const block = page && graph[page + (number & PAGE_MASK)]
      const bytes = block && graph[block]
      if (!bytes || block + ((bytes + 3) >>> 2) >= graph.length) return
      this.note(textIn(graph, block + 1, bytes))
    }
  }

  /** Notes a name that has got the next number. */
  note(name: string): void {
    this.#numbers.set(name, this.#texts.length)
    this.#texts.push(name)
  }
}
