/**
 * Records all writes of a fault test, which are made one after the other. Checks that each response is
 * correct after some number of these writes. A response can contain a write as soon as it was sent, and must
 * contain it after its acknowledgement.
 */
import { RING_PERIOD, type SeatAnswers, writesBehind } from './ring.ts'

/** Times are milliseconds of a monotonic clock. */
export interface JudgedAnswer {
  /** Name of the process. It differs after a restart. */
  readonly node: string
  readonly askedAt: number
  readonly answeredAt: number
  readonly seats: SeatAnswers
}

interface Write {
  readonly sentAt: number
  acknowledged: { readonly at: number; readonly by: string } | null
}

export class WriteHistory {
  readonly #staleMsMax: number
  readonly #writes: Write[] = []
  /** The number of writes that each node is known to have. */
  readonly #floors = new Map<string, number>()

  /** `staleMsMax` is the maximum age of a state from which a node decides. */
  constructor(staleMsMax: number) {
    this.#staleMsMax = staleMsMax
  }

  get sent(): number {
    return this.#writes.length
  }

  /** Records that the next write was sent, and returns its number. */
  send(at: number): number {
    this.#writes.push({ sentAt: at, acknowledged: null })
    return this.#writes.length
  }

  /** Records that a node has acknowledged the last write. */
  acknowledge(at: number, by: string): void {
    this.#writes.at(-1)!.acknowledged = { at, by }
  }

  /** The error of a response, or null if it is correct. Must be called in the order of the responses. */
  judge({ node, askedAt, answeredAt, seats }: JudgedAnswer): string | null {
    const least = Math.max(this.#floors.get(node) ?? 0, this.#dueAt(node, askedAt))
    const most = this.#writes.findLastIndex(({ sentAt }) => sentAt <= answeredAt) + 1
    const possible = writesBehind(seats, least, most)
    const where = `${node} at ${Math.round(askedAt)}`
    if (possible === null) return `${where}: mixed of several states: ${shown(seats)}`
    const [oldest] = possible
    if (oldest === undefined) {
      const any = writesBehind(seats, 0, this.sent + RING_PERIOD)
      return `${where}: expected a state from ${least} to ${most}, got one like ${any?.[0]}: ${shown(seats)}`
    }
    this.#floors.set(node, oldest)
    return null
  }

  /** Whether the response contains all writes. */
  isLast({ seats }: Pick<JudgedAnswer, 'seats'>): boolean {
    return writesBehind(seats, this.sent, this.sent)?.length === 1
  }

  /** Number of writes that later responses must contain. */
  #dueAt(node: string, askedAt: number): number {
    const isDue = ({ acknowledged }: Write): boolean => {
      if (acknowledged === null) return false
      // The node that acknowledged the write has it immediately.
      const within = acknowledged.by === node ? 0 : this.#staleMsMax
      return acknowledged.at + within <= askedAt
    }
    return this.#writes.findLastIndex(isDue) + 1
  }
}

function shown(seats: SeatAnswers): string {
  const taken = (place: 'first' | 'second') =>
    seats.flatMap((answer, seat) => (answer[place] ? [seat] : [])).join(',')
  return `{${taken('first')}} and {${taken('second')}}`
}
