/** Change streams in an HTTP thread with blocked sockets. */
import { expect, onTestFinished, test } from 'vitest'
import { EventReader } from '#cli/session/event-stream.ts'
import { LiveAnswer } from '#http/edge/live-answer.ts'
import { StreamScheduler } from '#http/edge/stream-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import type { Wire } from '#http/edge/wire.ts'
import { ChangeStreamReaders } from '#threads/channel/change-stream-readers.ts'
import type { FromHttpThread } from '#threads/channel/messages.ts'

const decoder = new TextDecoder()

/** A connection of the HTTP library that can be blocked. */
class Socket {
  text = ''
  isFull = false
  readonly answer: LiveAnswer
  #whenWritable: (() => void) | null = null

  constructor(turns: StreamScheduler) {
    const wire = {
      cork: (write: () => void) => write(),
      write: (piece: Uint8Array) => {
        this.text += decoder.decode(piece)
        return !this.isFull
      },
      end: () => {},
      onWritable: (listener: () => void) => (this.#whenWritable = listener),
    }
    this.answer = new LiveAnswer(wire as unknown as Wire, turns, () => {})
  }

  takeAll(): void {
    this.isFull = false
    this.#whenWritable?.()
  }

  get events(): string[] {
    return [...new EventReader().read(Buffer.from(this.text))].map(({ event, id = '' }) => `${event}${id}`)
  }
}

function open({ bytesMax = 1_000_000, heldMax = 1_000_000 } = {}) {
  const sent: FromHttpThread[] = []
  const streams = new ChangeStreamReaders(message => sent.push(message), {
    bytesMax,
    heldMax,
    counters: null,
  })
  onTestFinished(() => streams.sendAway({ isForGood: true }))
  // With this clock, a time slice never ends.
  const turns = new StreamScheduler(new TimeBudget('http', () => 0))
  let [lastCall, lastBlock] = [0, 0]
  return {
    streams,
    sent,
    /** Connects a reader that joins the channel. */
    reader: (channel: number, { isFull = false } = {}) => {
      const socket = new Socket(turns)
      const call = ++lastCall
      streams.answerTo(call, () => true).begin(socket.answer)
      socket.isFull = isFull
      const bytes = Buffer.from('event: snapshot\ndata: {}\nid: 0\n\n')
      streams.receivePiece(call, { bytes, events: 1, resets: 0, channel })
      return socket
    },
    /** Sends a block of the environment `owner`, with the ranges of its bytes that each channel receives. */
    tell: (owner: string, text: string, ranges: Readonly<Record<number, readonly number[]>>) => {
      const bytes = Buffer.from(text)
      const block = ++lastBlock
      for (const [channel, own] of Object.entries(ranges)) {
        const length = own.reduce((sum, at, place) => sum + (place % 2 === 0 ? -at : at), 0)
        const batch = { owner, block, bytes, ranges: Uint32Array.from(own), length }
        const told = { events: 1, resets: 0, isLast: false }
        streams.receiveBatch({ kind: 'stream-batch', channel: Number(channel), ...batch, ...told })
      }
    },
  }
}

const eventOf = (name: string, bytes: number): string => `event: ${name}\ndata: "${'x'.repeat(bytes)}"\n`

test('the bytes of a block are held once for readers of all channels, until the last reader has received them', () => {
  const { streams, reader, tell } = open()
  const readers = [1, 1, 2].map(channel => reader(channel, { isFull: true }))
  const text = `${eventOf('one', 10_000)}\n`
  for (let n = 0; n < 3; n++) tell('environment', text, { 1: [0, text.length], 2: [0, text.length] })
  expect(streams.heldBytes).toBe(3 * text.length)
  for (const each of readers.slice(0, 2)) each.takeAll()
  expect(streams.heldBytes).toBe(3 * text.length)
  readers[2]!.takeAll()
  expect(streams.heldBytes).toBe(0)
  for (const { events } of readers) expect(events).toEqual(['snapshot0', 'one', 'one', 'one'])
})

test('beyond the limit of an environment, only the readers of its oldest block end as slow', () => {
  const heldMax = 100_000
  const { streams, reader, tell } = open({ heldMax })
  const text = `${eventOf('one', 10_000)}\n`
  const all = [0, text.length]
  const other = reader(3, { isFull: true })
  tell('other', text, { 3: all })
  const idle = reader(1, { isFull: true })
  const reading = reader(1)
  let late: Socket | null = null
  for (let n = 0; n < 20; n++) {
    tell('environment', text, { 1: all, 2: all })
    expect(streams.heldBytes).toBeLessThanOrEqual(heldMax / 2 + text.length)
    if (n === 17) late = reader(2, { isFull: true })
  }
  expect(idle.events.at(-1)).toBe('slow')
  expect(reading.events.filter(event => event === 'one')).toHaveLength(20)
  for (const each of [other, late!]) each.takeAll()
  expect(other.events).toEqual(['snapshot0', 'one'])
  expect(late!.events).toEqual(['snapshot0', 'one', 'one'])
})

test('beyond the limit of all environments, readers of the environment with the most bytes end as slow', () => {
  const { reader, tell } = open({ heldMax: 100_000 })
  const text = `${eventOf('one', 10_000)}\n`
  const readers = [1, 2, 3].map(channel => reader(channel, { isFull: true }))
  for (const [channel, blocks] of [4, 3, 3].entries())
    for (let n = 0; n < blocks; n++) tell(`environment ${channel}`, text, { [channel + 1]: [0, text.length] })
  expect(readers.map(({ events }) => events.at(-1))).toEqual(['slow', 'snapshot0', 'snapshot0'])
})

test('an event that has been sent in part is completed before the stream ends', () => {
  const { streams, reader, tell } = open()
  const open1 = eventOf('one', 10)
  const readers = [reader(1), reader(1)]
  tell('environment', open1, { 1: [0, open1.length] })
  const rest = `\n${eventOf('two', 10)}id: 7\n\n`
  tell('environment', rest, { 1: [0, rest.length] })
  for (const { events } of readers) expect(events).toEqual(['snapshot0', 'one', 'two7'])
  tell('environment', open1, { 1: [0, open1.length] })
  streams.sendAway({ isForGood: false })
  for (const { events } of readers) expect(events).toEqual(['snapshot0', 'one', 'two7', 'one', 'closing'])
})

test('each block that an HTTP thread receives is reported once to the main thread', () => {
  const { sent, reader, tell } = open()
  reader(1)
  for (let n = 0; n < 2; n++) tell('environment', ': x\n\n', { 1: [0, 5], 2: [0, 5] })
  const taken = sent.filter(message => message.kind === 'took-block').map(({ block }) => block)
  expect(taken).toEqual([1, 2])
})
