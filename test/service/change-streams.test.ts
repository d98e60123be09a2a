/** Change streams with large commits and many readers: bounded memory, and no missing events. */
import { expect, onTestFinished, test } from 'vitest'
import { EventReader, type StreamEvent } from '#cli/session/event-stream.ts'
import { SOMEBODY } from '#model/caller.ts'
import { CatchUps } from '#management/changes/catch-ups.ts'
import type { ChangeBatch } from '#management/changes/change-channel.ts'
import { ChangeFilter } from '#management/changes/change-filter.ts'
import { ChangeSubscription } from '#management/changes/change-subscription.ts'
import { CommitEventSource } from '#management/changes/commit-event-source.ts'
import { EnvironmentChanges } from '#management/changes/environment-changes.ts'
import { parsePosition } from '#management/changes/stream-position.ts'
import { type TimeShare, unsharedTime } from '#scheduling/thread-scheduler.ts'
import { CHANGE_NOUNS } from '#entities/change-event.ts'
import { openedService, scope } from '../support/environment-service.ts'

/** A time share that grants the shortest slice to a step only when the test calls `give`. */
class HeldTurns implements TimeShare {
  readonly #waiting: (() => void)[] = []
  #isHeld = true

  take<Result>(step: (until: number) => Result): Promise<Result> {
    if (!this.#isHeld) return Promise.resolve().then(() => step(0))
    return new Promise(resolve => this.#waiting.push(() => resolve(step(0))))
  }

  takeSoon<Result>(step: (until: number) => Result): Promise<Result> {
    return this.take(step)
  }

  run(): never {
    throw new Error('change streams take single steps')
  }

  /** Grants one turn to the first waiting step, and waits for the work that follows it. */
  async give(): Promise<void> {
    while (this.#waiting.length === 0) await new Promise(setImmediate)
    this.#waiting.shift()!()
    await new Promise(setImmediate)
  }

  giveAll(): void {
    this.#isHeld = false
    for (const step of this.#waiting.splice(0)) step()
  }
}

async function open({ catchUps = new CatchUps(), timeShare = unsharedTime() } = {}) {
  const { environment, service } = await openedService()
  const { environmentId } = scope
  const source = new CommitEventSource(environment, scope)
  const changes = new EnvironmentChanges({
    store: environment,
    environmentId,
    source,
    timeShare,
    catchUps,
  })
  onTestFinished(() => changes.close())
  let users = 0
  const revision = async () => {
    const { epoch, sequence } = await environment.ledger.head()
    return `${epoch}.${sequence}`
  }
  return {
    changes,
    revision,
    /** Creates users with attributes of `bytes` bytes each, in one commit. */
    commit: async (count: number, bytes: number) => {
      const attributes = { text: 'x'.repeat(bytes) }
      const operations = Array.from({ length: count }, () => ({ key: `u${users++}`, attributes }))
      await service.execute('createUsers', { body: { operations } })
    },
    reader: (options: { readonly since?: string; readonly kinds?: string } = {}) =>
      Reader.open(changes, options),
  }
}

class Reader {
  readonly batches: ChangeBatch[] = []
  readonly events: StreamEvent[] = []
  readonly pieces: number[] = []
  isSlow = false
  isJoined = false
  readonly #subscription: ChangeSubscription
  readonly #text = new EventReader()
  #wake = (): void => {}

  static async open(
    changes: EnvironmentChanges,
    { since, kinds = 'user' }: { readonly since?: string; readonly kinds?: string },
  ): Promise<Reader> {
    const subscription = await ChangeSubscription.open({
      changes,
      filter: new ChangeFilter({ kinds: [kinds] }),
      since: since === undefined ? null : parsePosition(since, []),
      waitMs: 0,
      stalenessMs: () => 0,
      waiting: SOMEBODY,
    })
    onTestFinished(() => subscription.cancel())
    return new Reader(subscription)
  }

  private constructor(subscription: ChangeSubscription) {
    this.#subscription = subscription
    subscription.whenSlow(() => {
      this.isSlow = true
      subscription.cancel()
    })
  }

  leave(): void {
    this.#subscription.cancel()
  }

  take(): Promise<void> {
    return this.#subscription.next(({ bytes, channel }) => {
      this.pieces.push(bytes.length)
      this.#read(bytes)
      if (channel === null) return
      this.isJoined = true
      channel.listen(batch => {
        this.batches.push(batch)
        for (let at = 0; at < batch.ranges.length; at += 2)
          this.#read(batch.bytes.subarray(batch.ranges[at], batch.ranges[at + 1]))
      })
    })
  }

  /** Reads until the events of the commit at `revision` have arrived. */
  async upTo(revision: string): Promise<this> {
    while (!this.#hasHeard(revision)) {
      if (this.isJoined) await new Promise<void>(resolve => (this.#wake = resolve))
      else await this.take()
    }
    return this
  }

  get users(): string[] {
    return this.events.filter(({ event }) => event === 'user.created').map(({ data }) => keyIn(data))
  }

  /** Keys of the users whose event has an id. */
  get named(): string[] {
    return this.events
      .filter(({ event, id }) => event === 'user.created' && id)
      .map(({ data }) => keyIn(data))
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id
  }

  #hasHeard(revision: string): boolean {
    const { sequence } = parsePosition(revision, [])
    return this.lastId !== undefined && parsePosition(this.lastId, []).sequence >= sequence
  }

  #read(bytes: Uint8Array): void {
    this.events.push(...this.#text.read(bytes))
    this.#wake()
  }
}

function keyIn(data: string): string {
  return (JSON.parse(data) as { item: { key: string } }).item.key
}

const keys = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `u${from + n}`)

/** Returns different sets of kinds, each of which contains `user`. */
const setsOfKinds = (count: number): string[] => {
  const others = CHANGE_NOUNS.filter(noun => noun !== 'user')
  return Array.from({ length: count }, (_, nth) =>
    ['user', ...others.filter((__, bit) => (nth >> bit) & 1)].join(','),
  )
}

test('an event is written once, and readers with different filters share its bytes', async () => {
  const { commit, reader, revision } = await open()
  const readers = await Promise.all(setsOfKinds(40).map(kinds => reader({ kinds })))
  await Promise.all(readers.map(each => each.take()))
  await commit(500, 1_000)
  const at = await revision()
  await Promise.all(readers.map(each => each.upTo(at)))
  for (const { users, named } of readers) {
    expect(users).toEqual(keys(0, 500))
    expect(named).toEqual(['u499'])
  }
  const blocks = new Set(readers.flatMap(({ batches }) => batches.map(({ bytes }) => bytes)))
  const shared = [...blocks].reduce((sum, { length }) => sum + length, 0)
  const ofOne = readers[0]!.batches.reduce((sum, { length }) => sum + length, 0)
  expect(ofOne).toBeGreaterThan(500_000)
  expect(shared).toBeLessThan(1.01 * ofOne)
})

test('a large commit is written in slices, and a reader that connects in between receives all events once', async () => {
  const timeShare = new HeldTurns()
  const { changes, commit, reader, revision } = await open({ timeShare })
  const first = await reader()
  await first.take()
  await commit(4_000, 100)
  const at = await revision()
  await timeShare.give()
  // The commit is too large for one slice.
  expect(changes.isTelling).toBe(true)
  const second = await reader()
  await second.take()
  expect(second.isJoined).toBe(false)
  expect(second.users).toEqual([])
  timeShare.giveAll()
  for (const each of [await first.upTo(at), await second.upTo(at)]) {
    expect(each.users).toEqual(keys(0, 4_000))
    expect(each.named).toEqual(['u3999'])
  }
})

test('a catch-up splits a large commit into small chunks and buffers, and only its last event has an id', async () => {
  const catchUps = new CatchUps(Infinity, 100_000)
  const { commit, reader, revision } = await open({ catchUps })
  const since = await revision()
  await commit(1_000, 1_000)
  await commit(1, 10)
  const late = await reader({ since })
  const kept: number[] = []
  const at = await revision()
  while (late.users.length < 1_001) {
    await late.take()
    kept.push(catchUps.held.bytes)
  }
  await late.upTo(at)
  expect(late.users).toEqual(keys(0, 1_001))
  expect(late.named).toEqual(['u999', 'u1000'])
  expect(Math.max(...late.pieces)).toBeLessThan(65_536 + 2_000)
  // A part that the reader has taken is held until the reader has caught up.
  expect(catchUps.held.bytes).toBe(0)
  expect(kept.length).toBeGreaterThan(10)
})

test('readers at the same position share the buffers of their catch-up', async () => {
  const catchUps = new CatchUps(Infinity, 100_000)
  const { commit, reader, revision } = await open({ catchUps })
  const since = await revision()
  await commit(1_000, 1_000)
  const keptWith = async (count: number) => {
    const readers = await Promise.all(Array.from({ length: count }, () => reader({ since })))
    for (let n = 0; n < 2; n++) await Promise.all(readers.map(each => each.take()))
    return catchUps.held.bytes
  }
  const one = await keptWith(1)
  expect(one).toBeGreaterThan(100_000)
  expect(await keptWith(50)).toBe(one)
})

test('a part of a catch-up is not buffered if its last reader leaves while the part is written', async () => {
  const catchUps = new CatchUps()
  const timeShare = new HeldTurns()
  const { commit, reader, revision } = await open({ catchUps, timeShare })
  const since = await revision()
  await commit(2_000, 1_000)
  const late = await reader({ since })
  await late.take()
  const taken = expect(late.take()).rejects.toThrow()
  await new Promise(setImmediate)
  late.leave()
  timeShare.giveAll()
  await taken
  await new Promise(setImmediate)
  expect(catchUps.held.bytes).toBe(0)
})

test('at the limit, stalled readers of the oldest part are ended as slow, and can resume without missing events', async () => {
  const limit = 800_000
  const catchUps = new CatchUps(limit, 100_000)
  const { commit, reader, revision } = await open({ catchUps })
  const since: string[] = []
  for (let n = 0; n < 6; n++) {
    since.push(await revision())
    await commit(200, 1_000)
  }
  const readers: Reader[] = []
  for (const each of since) {
    const idle = await reader({ since: each })
    await idle.take()
    await idle.take()
    readers.push(idle)
    // One environment can use half of the limit.
    expect(catchUps.held.bytes).toBeLessThanOrEqual(limit / 2)
  }
  expect(readers.map(({ isSlow }) => isSlow)).toEqual([true, true, true, false, false, false])
  const at = await revision()
  const again = await reader({ since: readers[0]!.lastId ?? since[0]! })
  await again.upTo(at)
  expect(again.users).toEqual(keys(0, 1_200))
  await readers[5]!.upTo(at)
  expect(readers[5]!.users).toEqual(keys(1_000, 1_200))
})
