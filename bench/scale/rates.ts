/**
 * Measures rates that docs/design/fleet-simulation.md needs and that no other bench measures: memory of an
 * index per fact, speed of loading an index and its snapshots, speed of a node that follows the log, and cost
 * of a commit in Redis. Every response is verified before a figure is printed.
 *
 *     npm run bench -- scale-rates
 */
import { publish, round } from '../lib/measure.ts'
import { measureFollower } from './follower-rates.ts'
import { measureIndex } from './index-rates.ts'

const index = await measureIndex()
const { alone, many, ...follower } = await measureFollower()
const told = Object.entries({ ...index, ...follower }).map(([name, value]) => ({
  figure: name,
  bar: '',
  reached: String(round(value)),
  isMet: true,
}))
publish('scale-rates', told, { index, follower, alone, many })
