/**
 * Tables with the duration of writing facts, the delay until every node has applied a change, and the
 * duration of a start.
 */
import { INPUTS as I, seconds, WRITES } from './inputs.ts'
import { runLog } from './propagation.ts'
import { runStart, type StartPlan } from './starts.ts'
import { FACTS, FULL_INDEX } from './sizes.ts'
import { duration, millions, ms, percent, printTable } from './tables.ts'

export function printWrites(): void {
  printTable(
    'How long facts take to be written at the rates of today',
    ['Way', 'a second', 'a full index', '10^9 facts'],
    Object.values(WRITES).map(({ value, unit, from }) => [
      from,
      `${value.toLocaleString('en-US')} ${unit}`,
      duration(FULL_INDEX / value),
      duration(FACTS / value),
    ]),
  )
  printFanOut()
  printPieceLogs()
  printStarts()
}

function printFanOut(): void {
  // The same configuration as in the propagation bench.
  const asMeasured = runLog({ followers: 1, commitsPerSecond: 500 }, 20).each
  process.stdout.write(`\nOne follower at 500 commits/s: p50 ${ms(asMeasured.at(0.5))}\n`)
  const plans = [10, 30, 100].flatMap(followers =>
    [1_000, 2_000].map(commitsPerSecond => ({ followers, commitsPerSecond })),
  )
  printTable(
    'From a commit of one log to the decisions of the nodes that follow it',
    [
      'Followers',
      'commits/s',
      'Redis busy',
      'a follower busy',
      'each: p50',
      'p99',
      'the last: p50',
      'p99',
      'sent by Redis',
    ],
    plans.map(plan => {
      const { each, last, redisBusy, followerBusy } = runLog(plan, 6)
      const isOver = plan.commitsPerSecond >= mostCommits(plan.followers)
      const sent = plan.followers * plan.commitsPerSecond * I.sentBytesPerCommit.value
      return [
        plan.followers,
        plan.commitsPerSecond,
        percent(redisBusy),
        percent(followerBusy),
        ...(isOver
          ? ['falls behind', null, null, null]
          : [ms(each.at(0.5)), ms(each.at(0.99)), ms(last.at(0.5)), ms(last.at(0.99))]),
        `${Math.round((sent * 8) / 1e6).toLocaleString('en-US')} Mbit/s`,
      ]
    }),
  )
  const most = [0, 1, 10, 30, 100, 300].map(
    followers => `${followers}: ${Math.round(mostCommits(followers)).toLocaleString('en-US')}`,
  )
  process.stdout.write(
    `\nMost commits/s of a log, by followers that read many at a time: ${most.join(', ')}\n`,
  )
}

/**
 * Maximum rate of commits that Redis and a follower can process. It assumes that each read returns so many
 * commits that the cost of a read is negligible.
 */
function mostCommits(followers: number): number {
  const redis =
    seconds(I.redisPerCommit) + followers * (seconds(I.redisPerMessage) + seconds(I.redisPerCommitRead))
  return followers === 0 ? 1 / redis : Math.min(1 / redis, I.followedPerSecond.value)
}

/**
 * Table for the proposed design, in which each piece has its own log and a node follows only the logs of its
 * pieces.
 */
function printPieceLogs(): void {
  const [nodes, pieces, copies, servers] = [8, 64, 2, 4]
  printTable(
    `${pieces} pieces in two copies on ${nodes} nodes, a log each, on ${servers} servers of Redis`,
    ['Changes/s in all', 'of a piece', 'a node applies', 'a node busy', 'a Redis busy', 'p50', 'p99'],
    [2_000, 5_000, 8_000].map(changes => {
      const applied = (changes * copies) / nodes
      const commitsPerSecond = changes / pieces
      const { each, redisBusy, followerBusy } = runLog(
        { commitsPerSecond, followers: copies - 1, othersPerSecond: applied - commitsPerSecond },
        60,
      )
      return [
        changes,
        Math.round(commitsPerSecond),
        `${Math.round(applied).toLocaleString('en-US')}/s`,
        percent(followerBusy),
        percent((redisBusy * pieces) / servers),
        ms(each.at(0.5)),
        ms(each.at(0.99)),
      ]
    }),
  )
}

function printStarts(): void {
  const logEntries = I.logEntriesMax.value
  const full = { facts: FULL_INDEX, indexes: 1, logEntries, commitsPerSecond: 500 }
  const everything = { facts: FACTS, indexes: 18, logEntries, commitsPerSecond: 1_000 }
  const quarter = { facts: FACTS / 4, indexes: 16, logEntries, commitsPerSecond: 250 }
  const eighth = { facts: FACTS / 8, indexes: 8, logEntries, commitsPerSecond: 125 }
  const stoppedFor = 60
  const plans: readonly (readonly [string, StartPlan])[] = [
    ['a full index', { ...full, commitsPerSecond: 150, has: 'nothing' }],
    ['the same', { ...full, has: 'nothing' }],
    ['the same, `LOG_ENTRIES_MAX` 1 M', { ...full, logEntries: 1e6, has: 'nothing' }],
    ['the same, of its local copy', { ...full, logEntries: 1e6, has: 'rows', stoppedFor }],
    ['the same, index kept', { ...full, has: 'indexes', stoppedFor }],
    ['everything, 18 environments', { ...everything, has: 'nothing' }],
    ['the same, of its local copy', { ...everything, has: 'rows', stoppedFor }],
    ['the same, indexes kept', { ...everything, has: 'indexes', stoppedFor }],
    ['a quarter, 16 indexes', { ...quarter, has: 'nothing' }],
    ['an eighth, 8 indexes', { ...eighth, has: 'nothing' }],
  ]
  printTable(
    'The start of a node while writing goes on',
    ['What it loads', 'facts', 'commits/s', 'first piece decides', 'all decide', 'p99 of changes meanwhile'],
    plans.map(([what, plan]) => {
      const { first, all, lag } = runStart(plan)
      return [
        what,
        millions(plan.facts),
        plan.commitsPerSecond,
        duration(first),
        duration(all),
        lag.count === 0 ? null : ms(lag.at(0.99)),
      ]
    }),
  )
}
