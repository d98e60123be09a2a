/**
 * An HTTP thread that decides, as a station: each question takes as long, every so often the collector stops the thread, and now and then
 * the machine does. It sleeps when nobody asks, and wakes for the next question.
 */
import type { Random } from '#testing/data/random.ts'
import type { Clock } from './clock.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

/** The part of a thread's time that the machine takes. */
const STOPPED =
  I.shortStopsPerSecond.value * seconds(I.shortStop) + I.longStopsPerSecond.value * seconds(I.longStop)
const COLLECTED = seconds(I.collection) / I.checksPerCollection.value
/** What a question takes where nothing interferes: as much as makes the measured peak. */
export const PLAIN_CHECK = (1 - STOPPED) / I.peakChecks.value - COLLECTED

/** What the client of the measurement takes for a question. */
const CLIENT = I.clientShareAtPeak.value / I.peakChecks.value
/** Of a round trip of somebody alone what is neither service nor client is two sleepers that wake. */
export const WAKE = (seconds(I.roundTripAlone) - 1 / I.peakChecks.value - CLIENT) / 2

export interface HttpThread {
  readonly station: Station
  /** The time of one question. */
  work(): number
}

/** `speed`: of the measured thread, which had a core and a cache for itself. */
export function httpThread(clock: Clock, random: Random, speed = 1): HttpThread {
  const station = new Station(clock, { wakeSeconds: WAKE })
  stopNowAndThen(clock, random, station)
  const plain = PLAIN_CHECK / speed
  const collection = seconds(I.collection)
  const chance = 1 / I.checksPerCollection.value
  return { station, work: () => (random.next() < chance ? plain + collection : plain) }
}

/** The client of the measurement: a thread on a core of the same machine. */
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
