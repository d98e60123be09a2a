/** Memory that a body takes while its pieces arrive. */
import { describe, expect, test } from 'vitest'
import { joined, longBodiesBytesMax, SEGMENT_BYTES, SegmentStock } from '#http/edge/body-segments.ts'
import { BodyBuffers } from '#http/message/body-buffers.ts'
import { BodyCollector } from '#http/edge/body-collector.ts'
import { bytesOf } from '#http/message/byte-views.ts'
import { CountedSegments } from './edge-server.ts'

const MEGABYTE = 1_024 * 1_024
const BYTES_MAX = 16 * MEGABYTE
const PIECE_BYTES = MEGABYTE / 2
const STOCK_BYTES = longBodiesBytesMax(BYTES_MAX)
/** Options with which no body is long enough for segments. */
const NO_SEGMENTS = { stock: new SegmentStock(0), share: 'one', from: Infinity }

type Segments = ConstructorParameters<typeof BodyCollector>[0]['segments']

class CountedBuffers extends BodyBuffers {
  readonly taken: number[] = []

  override take(bytes: number, wished?: number): Buffer {
    this.taken.push(bytes)
    return super.take(bytes, wished)
  }
}

function newCollector(
  announcedBytes: number,
  buffers: BodyBuffers,
  segments: Segments = NO_SEGMENTS,
  bytesMax = BYTES_MAX,
) {
  return new BodyCollector({ bytesMax, announcedBytes, isKept: true, buffers, segments })
}

/** Passes a body to the collector in pieces with different content. */
function fill(collector: BodyCollector, bytes: number): void {
  for (let from = 0; from < bytes; from += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, bytes - from)
    collector.take(new Uint8Array(length).fill(1 + from / PIECE_BYTES).buffer)
  }
}

function collect(bytes: number, announcedBytes: number): { taken: number[]; body: Buffer } {
  const buffers = new CountedBuffers()
  const collector = newCollector(announcedBytes, buffers)
  fill(collector, bytes)
  return { taken: buffers.taken, body: bytesOf(collector.own().view) }
}

function expectWhole(body: Buffer, bytes: number): void {
  expect(body.length).toBe(bytes)
  for (let at = 0; at < bytes; at += 1_000) expect(body[at]).toBe(1 + Math.floor(at / PIECE_BYTES))
}

test('a body is copied into one buffer of its size if the first piece is at least a quarter of the body', () => {
  const { taken, body } = collect(1.75 * MEGABYTE, 1.75 * MEGABYTE)
  expect(taken).toEqual([1.75 * MEGABYTE])
  expectWhole(body, 1.75 * MEGABYTE)
})

test('a body of which few bytes have arrived occupies four times these bytes, whatever length is announced', () => {
  const buffers = new CountedBuffers()
  newCollector(BYTES_MAX, buffers).take(new ArrayBuffer(10_000))
  expect(buffers.taken).toEqual([40_000])
})

test('a body is copied once into an available buffer of its size, even if the first piece is small', () => {
  const buffers = new CountedBuffers()
  const [enough, tooSmall] = [Buffer.alloc(MEGABYTE), Buffer.alloc(MEGABYTE / 2)]
  buffers.giveBack(enough)
  buffers.giveBack(tooSmall)
  const announcedBytes = 0.75 * MEGABYTE
  const collector = newCollector(announcedBytes, buffers)
  for (let from = 0; from < announcedBytes; from += 1_024) collector.take(new ArrayBuffer(1_024))
  expect(buffers.taken.length).toBe(1)
  // The other buffer is still available.
  expect(buffers.take(1)).toBe(tooSmall)
})

test('if several buffers are suitable, the one that was returned last is used', () => {
  const buffers = new BodyBuffers()
  const [one, other] = [Buffer.alloc(MEGABYTE), Buffer.alloc(MEGABYTE)]
  buffers.giveBack(one)
  buffers.giveBack(other)
  expect(buffers.take(1_000)).toBe(other)
  buffers.giveBack(other)
  expect(buffers.take(1_000, 2 * MEGABYTE)).toBe(other)
  expect(buffers.take(1_000)).toBe(one)
})

test.each([0, 1, 3 * MEGABYTE])(
  'a body that is longer than the announced %i bytes is complete',
  announced => {
    const { body } = collect(5.25 * MEGABYTE, announced)
    expectWhole(body, 5.25 * MEGABYTE)
  },
)

test('no buffer is larger than the limit of body bytes', () => {
  const { taken } = collect(BYTES_MAX - 1, 10 * BYTES_MAX)
  expect(Math.max(...taken)).toBeLessThanOrEqual(BYTES_MAX)
})

describe('a body for another thread', () => {
  const share = 'one'
  const from = 2 * MEGABYTE

  function collected(bytes: number, announcedBytes: number) {
    const stock = new CountedSegments(STOCK_BYTES)
    const collector = newCollector(announcedBytes, new CountedBuffers(), { stock, share, from })
    fill(collector, bytes)
    return { collector, stock }
  }

  test.each([
    ['has an announced length', 5.3 * MEGABYTE, 5.3 * MEGABYTE],
    ['has an unknown length', 5.3 * MEGABYTE, 0],
    ['fills whole segments', 4 * MEGABYTE, 4 * MEGABYTE],
  ])('is collected in segments, which are released, if it %s', (_, length, announced) => {
    const bytes = Math.round(length)
    const { collector, stock } = collected(bytes, Math.round(announced))
    expect(stock.out).toBe(Math.ceil(bytes / SEGMENT_BYTES))
    const own = collector.own()
    expect(own.segments.length).toBe(Math.ceil(bytes / SEGMENT_BYTES))
    expectWhole(joined(own.segments, own.bytes), bytes)
    expectWhole(bytesOf(own.view), bytes)
    own.release()
    own.release()
    expect(stock.out).toBe(0)
  })

  test('is collected in one buffer if it is short, and then copied into segments', () => {
    const { collector, stock } = collected(1.75 * MEGABYTE, 1.75 * MEGABYTE)
    expect(stock.out).toBe(0)
    const own = collector.own()
    expectWhole(bytesOf(own.view), 1.75 * MEGABYTE)
    expectWhole(joined(own.segments, own.bytes), 1.75 * MEGABYTE)
    own.release()
    expect(stock.out).toBe(0)
  })

  test('releases its segments if it is too long or the client disconnects', () => {
    for (const isTooLong of [true, false]) {
      const stock = new CountedSegments(STOCK_BYTES)
      const segments = { stock, share, from }
      const collector = newCollector(0, new CountedBuffers(), segments, 3 * MEGABYTE)
      for (let piece = 0; piece < 5; piece += 1) collector.take(new ArrayBuffer(PIECE_BYTES))
      expect(stock.out).toBe(3)
      if (isTooLong) collector.take(new ArrayBuffer(PIECE_BYTES * 2))
      else collector.release()
      expect(stock.out).toBe(0)
    }
  })

  test('takes no segment for bytes that are only announced', () => {
    const [buffers, stock] = [new CountedBuffers(), new CountedSegments(STOCK_BYTES)]
    newCollector(BYTES_MAX, buffers, { stock, share, from }).take(new ArrayBuffer(10_000))
    expect([buffers.taken, stock.out]).toEqual([[40_000], 0])
  })
})
