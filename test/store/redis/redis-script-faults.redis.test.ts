/** Refusal of each call of each script, on servers that can or cannot check permissions in advance. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { CREATED_PER_COMMIT } from '#store/redis/ledger/stored-row.ts'
import { CALL_ROWS_MAX } from '#store/redis/ledger/commit-call.ts'
import { connect } from '#store/redis/link/redis-client.ts'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { type Argument, RedisLink, type RedisReply, type Script } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { RowTally } from '#store/redis/ledger/row-tally.ts'
import type { Commit } from '#store/ledger.ts'
import { encodeRow } from '#store/keyspace/row-codec.ts'
import { sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import { allRows, commitOf, entriesAfter, readable, type ReadableRow, text } from '../toy-rows.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)

/** Maximum number of calls that a script can make for these commits. */
const CALLS_MAX = 40

/** Whether scripts on the server can check the permissions of their user. */
type Server = 'checks' | 'does not check'

/** Refuses one call of the next script. */
class FaultyLink extends RedisLink {
  readonly server: Server
  /** Number of the call that is refused, from 1. Null if no call is refused. */
  fault: number | null = null
  /** True if the script reached the refused call. */
  wasMet = false

  constructor(server: Server) {
    super(connect(parseRedisUrl(redis.url()), 'test'))
    this.server = server
  }

  override async run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<RedisReply> {
    const mark = `${keys[0]}:met`
    const faulty = `
      local real, made, reads = redis, 0, 0
      local function meets(command)
        -- Only the first rows of a large commit.
        reads = reads + (command == 'HGET' and 1 or 0)
        if command == 'HGET' and reads > 3 then return false end
        made = made + 1
        if made == ${this.fault ?? 0} then
          real.call('SET', '${mark}', 1)
          return true
        end
      end
      local redis = setmetatable({
        call = function(...)
          if meets(...) then error({ err = 'ERR this call is refused' }) end
          return real.call(...)
        end,
        pcall = function(...)
          if meets(...) then return { err = 'ERR this call is refused' } end
          return real.pcall(...)
        end,
      }, { __index = function(_, name)
        if name ~= 'acl_check_cmd' or ${this.server === 'checks'} then return real[name] end
      end })
      ${script.text}`
    try {
      return await this.send('EVAL', faulty, keys.length, ...keys, ...args)
    } finally {
      this.wasMet = (await direct.send('DEL', mark)) === 1
      this.fault = null
    }
  }
}

interface Setup {
  readonly keys: RedisKeys
  readonly link: FaultyLink
  /** A ledger whose calls can be refused. */
  readonly faulty: RedisLedger
  /** The same ledger, over a connection without refusals. */
  readonly other: RedisLedger
}

const LOG_ENTRIES_MAX = 3

async function linkTo(server: Server): Promise<FaultyLink> {
  const link = new FaultyLink(server)
  onTestFinished(() => link.close())
  await link.recovered(10_000)
  return link
}

async function setup(link: FaultyLink): Promise<Setup> {
  const keys = redisKeys(parseRedisUrl(redis.url()).prefix, 'faults')
  const options = { keys, logEntriesMax: LOG_ENTRIES_MAX }
  const faulty = await RedisLedger.open({ ...options, link, mayBegin: true })
  const other = await RedisLedger.open({ ...options, link: direct, mayBegin: false })
  return { keys, link, faulty, other }
}

/** Expected state of a ledger after the acknowledged commits. */
class Expected {
  readonly rows = new Map<string, ReadableRow>()
  sequence = 0

  take(commit: Commit): void {
    this.sequence += 1
    for (const key of commit.delete) this.rows.delete(text(key))
    for (const [place, { key, value }] of commit.put.entries()) {
      const created = this.rows.get(text(key))?.created ?? this.sequence * CREATED_PER_COMMIT + place
      this.rows.set(text(key), { key: text(key), value: text(value), version: this.sequence, created })
    }
  }

  inOrder(): ReadableRow[] {
    return [...this.rows.values()].toSorted((one, other) => one.created - other.created)
  }
}

/** True if the commit is acknowledged, false if it is reported as refused. Other outcomes fail the test. */
async function isMade(ledger: RedisLedger, commit: Commit): Promise<boolean> {
  try {
    await ledger.commit(commit)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORE_REFUSED' })
    return false
  }
}

/** Expects the same rows from a follower, from a new ledger and from the row tally. */
async function expectWhole({ other, keys }: Setup, expected: Expected, followed: Map<string, ReadableRow>) {
  const fresh = await RedisLedger.open({ link: direct, keys, logEntriesMax: 1, mayBegin: false })
  const rows = await allRows(fresh)
  expect(rows).toEqual(expected.inOrder())
  expect([...followed.values()].toSorted((one, two) => one.created - two.created)).toEqual(rows)
  const standing = await other.state()
  expect(standing).toMatchObject({ position: { sequence: expected.sequence }, rowCount: rows.length })
  const tally = new RowTally()
  for await (const batch of fresh.rows())
    for (const row of batch) tally.add({ created: row.created, bytes: encodeRow(row) })
  await other.verify(standing, tally)
}

/** Follows the feed from its last position, as a running node does. */
class Follower {
  readonly rows = new Map<string, ReadableRow>()
  readonly #ledger: RedisLedger
  #sequence = 0

  constructor(ledger: RedisLedger) {
    this.#ledger = ledger
  }

  async follow(sequence: number): Promise<void> {
    const after = { epoch: this.#ledger.epoch, sequence: this.#sequence }
    for (const entry of await entriesAfter(this.#ledger, after, sequence - this.#sequence)) {
      for (const key of entry.delete) this.rows.delete(text(key))
      for (const row of entry.put) this.rows.set(text(row.key), readable(row))
    }
    this.#sequence = sequence
  }
}

const many = (value: string) =>
  Object.fromEntries(Array.from({ length: CALL_ROWS_MAX + 20 }, (_unused, index) => [`row-${index}`, value]))
const KINDS = {
  'the first commit ever': { before: [], commit: () => commitOf({ put: { alice: 'ar' } }) },
  'a commit that creates, overwrites and deletes rows and trims the log': {
    before: [
      commitOf({ put: { alice: 'ar', bob: 'bg', carol: 'ag' } }),
      commitOf({}),
      commitOf({}),
      commitOf({}),
    ],
    commit: () => commitOf({ delete: ['bob', 'nobody'], put: { alice: 'ag', dave: 'br' } }),
  },
  'a large commit': {
    before: [commitOf({ put: { 'row-1': 'ar', 'row-2': 'bg' } })],
    commit: () => commitOf({ delete: ['row-1'], put: many('bg') }),
  },
} as const

describe.each(['checks', 'does not check'] as const)('on a server that %s permissions in advance', server => {
  test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
    '%s is complete or absent, whichever call of its script is refused',
    async name => {
      const { before, commit: make } = KINDS[name]
      const link = await linkTo(server)
      let made = 0
      let refused = 0
      for (let fault = 1; ; fault += 1) {
        expect(fault).toBeLessThan(CALLS_MAX)
        const place = await setup(link)
        const { faulty, other } = place
        const [expected, follower] = [new Expected(), new Follower(other)]
        const succeed = async (commits: readonly Commit[]) => {
          for (const each of commits) {
            await other.commit(each)
            expected.take(each)
            await follower.follow(expected.sequence)
          }
        }
        await succeed(before)
        link.fault = fault
        const commit = make()
        const isAcknowledged = await isMade(faulty, commit)
        if (!link.wasMet) break
        if (isAcknowledged) {
          expected.take(commit)
          await follower.follow(expected.sequence)
        }
        made += Number(isAcknowledged)
        refused += Number(!isAcknowledged)
        await succeed([commitOf({ put: { erin: 'ar' } }), commitOf({ delete: ['erin'] })])
        await expectWhole(place, expected, follower.rows)
      }
      expect(made).toBeGreaterThan(0)
      expect(refused).toBeGreaterThan(0)
    },
  )
})

test('a commit is complete or absent even if a call of the script that completes it is refused', async () => {
  const link = await linkTo('does not check')
  const { before, commit: make } =
    KINDS['a commit that creates, overwrites and deletes rows and trims the log']
  let isFirstMet = true
  for (let first = 1; isFirstMet; first += 1) {
    let isSecondMet = true
    for (let second = 1; isSecondMet; second += 1) {
      const place = await setup(link)
      const { faulty, other } = place
      const expected = new Expected()
      for (const commit of before) {
        await other.commit(commit)
        expected.take(commit)
      }
      const met: boolean[] = []
      for (const fault of [first, second]) {
        link.fault = fault
        const commit = make()
        if (await isMade(faulty, commit)) expected.take(commit)
        met.push(link.wasMet)
      }
      ;[isFirstMet, isSecondMet] = met as [boolean, boolean]
      if (!isFirstMet) break
      const next = commitOf({ put: { erin: 'ar' } })
      await other.commit(next)
      expected.take(next)
      await expectWhole(place, expected, expected.rows)
    }
  }
})

test('the next start begins or resumes the epoch, whichever call of the previous start was refused', async () => {
  const link = await linkTo('checks')
  for (let fault = 1; ; fault += 1) {
    const keys = redisKeys(parseRedisUrl(redis.url()).prefix, 'starts')
    link.fault = fault
    const options = { keys, logEntriesMax: LOG_ENTRIES_MAX, mayBegin: true }
    const begun = await RedisLedger.open({ ...options, link }).catch((error: unknown) => error)
    if (!link.wasMet) break
    if (begun instanceof AuthzError) expect(begun.code).toBe('STORE_REFUSED')
    const next = await RedisLedger.open({ ...options, link: direct })
    expect(await next.commit(commitOf({ put: { alice: 'ar' } }))).toMatchObject({ sequence: 1 })
    link.fault = fault
    await RedisLedger.open({ ...options, link }).catch(() => undefined)
    expect(await next.commit(commitOf({ put: { bob: 'bg' } }))).toMatchObject({ sequence: 2 })
    const other = await RedisLedger.open({ ...options, link: direct })
    expect((await allRows(other)).map(({ key }) => key)).toEqual(['alice', 'bob'])
  }
})
