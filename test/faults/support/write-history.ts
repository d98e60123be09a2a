/**
 * The recorder and the judge of the fault tests. It hears of every write when it is sent and when it is acknowledged, and of
 * every answer; and says of each answer whether the history allows it.
 *
 * Writes are made one after the other, so that a number names a state. Of one whose outcome is not known nothing
 * is said until it is: it may be in an answer from the moment it was sent, and has to be from its acknowledgement on.
 */
import { RING_PERIOD, type SeatAnswers, writesBehind } from './ring.ts'

/** Moments are milliseconds of one clock that is never turned. */
export interface JudgedAnswer {
  /** A process, not a machine: one that was started again has another name. */
  readonly node: string
  readonly askedAt: number
  readonly answeredAt: number
  readonly seats: SeatAnswers
}

interface Write {
  readonly sentAt: number
  acknowledged: { readonly at: number; readonly by: string } | null
}

export interface WriteHistoryOptions {
  /** How old a state may be that a node decides by, in milliseconds. */
  readonly staleMsMax: number
}

export class WriteHistory {
  readonly #staleMsMax: number
  readonly #writes: Write[] = []
  /** The newest state each node is known to have had. */
  readonly #floors = new Map<string, number>()

  constructor({ staleMsMax }: WriteHistoryOptions) {
    this.#staleMsMax = staleMsMax
  }

  get sent(): number {
    return this.#writes.length
  }

  /** The next write is on its way; returns its number. */
  send(at: number): number {
    this.#writes.push({ sentAt: at, acknowledged: null })
    return this.#writes.length
  }

  /** The last write sent was answered by that node: it is done. */
  acknowledge(at: number, by: string): void {
    this.#writes.at(-1)!.acknowledged = { at, by }
  }

  /** Null when the history allows the answer, else what is wrong with it. To be called in the order the answers came. */
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

  /** Whether the answer is the state behind all writes. */
  isLast({ seats }: Pick<JudgedAnswer, 'seats'>): boolean {
    return writesBehind(seats, this.sent, this.sent)?.length === 1
  }

  /** The writes that no answer given from then on may lack. */
  #dueAt(node: string, askedAt: number): number {
    const isDue = ({ acknowledged }: Write): boolean => {
      if (acknowledged === null) return false
      // Who wrote reads what was written at once.
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
