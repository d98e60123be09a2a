/** Random events: the arrivals of jobs, and stops. */
import type { Random } from '#testing/data/random.ts'
import type { Clock, Happening } from './clock.ts'

/** Returns a random duration with an exponential distribution and this mean. */
export function randomTime(random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean
}

/** Calls `arrive` at random times, on average `perSecond` times per second, beginning now. */
export function arriveAtRandom(clock: Clock, random: Random, perSecond: number, arrive: () => void): void {
  if (perSecond === 0) return
  const next: Happening = {
    happen: () => {
      clock.after(randomTime(random, 1 / perSecond), next)
      arrive()
    },
  }
  clock.after(randomTime(random, 1 / perSecond), next)
}
