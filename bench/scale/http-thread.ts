/**
 * An HTTP thread that makes decisions, as a station: each check takes the same time, the garbage collector
 * stops the thread regularly, and the machine does so occasionally. An idle thread sleeps, and wakes for the
 * next check.
 */
import type { Random } from '#testing/data/random.ts'
import type { Clock } from './clock.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

/** Share of a thread's time in which the machine stops it. */
const STOPPED =
  I.shortStopsPerSecond.value * seconds(I.shortStop) + I.longStopsPerSecond.value * seconds(I.longStop)
const COLLECTED = seconds(I.collection) / I.checksPerCollection.value
/** Duration of a check without interference, derived from the measured peak. */
export const PLAIN_CHECK = (1 - STOPPED) / I.peakChecks.value - COLLECTED

/** Time of the load generator per check. */
const CLIENT = I.clientShareAtPeak.value / I.peakChecks.value
/**
 * The round trip of a single client without the time of the service and of the client consists of waking both
 * threads.
 */
export const WAKE = (seconds(I.roundTripAlone) - 1 / I.peakChecks.value - CLIENT) / 2

export interface HttpThread {
  readonly station: Station
  /** Duration of one check. */
  work(): number
}

/** `speed`: relative to the measured thread, which had a core and a cache for itself. */
export function httpThread(clock: Clock, random: Random, speed = 1): HttpThread {
  const station = new Station(clock, { wakeSeconds: WAKE })
  stopNowAndThen(clock, random, station)
  const plain = PLAIN_CHECK / speed
  const collection = seconds(I.collection)
  const chance = 1 / I.checksPerCollection.value
  return { station, work: () => (random.next() < chance ? plain + collection : plain) }
}

/** The load generator of the measurement: a thread on a core of the same machine. */
export function measuringClient(clock: Clock, random: Random): HttpThread {
  const station = new Station(clock, { wakeSeconds: WAKE })
  stopNowAndThen(clock, random, station)
  return { station, work: () => CLIENT }
}

function stopNowAndThen(clock: Clock, random: Random, station: Station): void {
  for (const [perSecond, stop] of [
    [I.shortStopsPerSecond.value, seconds(I.shortStop)],
    [I.longStopsPerSecond.value, seconds(I.longStop)],
  ] as const) {
    arriveAtRandom(clock, random, perSecond, () => station.stop(stop))
  }
}
