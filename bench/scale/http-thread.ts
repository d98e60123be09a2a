/**
 * An HTTP thread that makes decisions, simulated as a station. Each check takes the same time. The garbage
 * collector stops the thread regularly, and the machine stops it occasionally. An idle thread sleeps and
 * wakes up for the next check.
 */
import type { Random } from '#testing/data/random.ts'
import type { Clock } from './clock.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

/** Share of the time in which the machine stops a thread. */
const STOPPED =
  I.shortStopsPerSecond.value * seconds(I.shortStop) + I.longStopsPerSecond.value * seconds(I.longStop)
const COLLECTED = seconds(I.collection) / I.checksPerCollection.value
/** Time of a check without interruptions, in seconds. It is derived from the measured peak load. */
export const PLAIN_CHECK = (1 - STOPPED) / I.peakChecks.value - COLLECTED

/** Time in seconds that the load generator needs per check. */
const CLIENT = I.clientShareAtPeak.value / I.peakChecks.value
/**
 * Time in seconds that a thread needs to wake up. The round trip of a single client consists of the work of
 * the service, the work of the client, and waking up both threads.
 */
export const WAKE = (seconds(I.roundTripAlone) - 1 / I.peakChecks.value - CLIENT) / 2

export interface HttpThread {
  readonly station: Station
  /** Duration of one check. */
  work(): number
}

/**
 * Creates the station of an HTTP thread. `speed` is relative to the measured thread, which had its own core
 * and cache.
 */
export function httpThread(clock: Clock, random: Random, speed = 1): HttpThread {
  const station = new Station(clock, { wakeSeconds: WAKE })
  stopNowAndThen(clock, random, station)
  const plain = PLAIN_CHECK / speed
  const collection = seconds(I.collection)
  const chance = 1 / I.checksPerCollection.value
  return { station, work: () => (random.next() < chance ? plain + collection : plain) }
}

/**
 * Creates the station of the load generator of the measurement, which was a thread on another core of the
 * same machine.
 */
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
