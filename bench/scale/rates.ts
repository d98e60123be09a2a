/**
 * The rates that docs/scale.md needs and no other bench has: what an index takes a fact, how fast it is loaded, kept and read again, how
 * fast a node follows the log, what a commit costs Redis. Every answer is compared before a figure is told.
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
