/** JSON values with one mutated part, like mistakes of callers and attempts of attackers. */
import type { Random } from '#testing/data/random.ts'
import { ODD_TEXTS } from './drawn-values.ts'

const NUMBERS = [-1, 0, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 1e-7, 10_001, 1e15]
const NAMES = ['__proto__', 'constructor', 'toString', '', 'extra', 'key', 'id', '\u0000', '0', 'length']
const DEPTHS = [3, 60, 3_000]
const LENGTHS = [129, 513, 1_025, 4_097, 70_000]

/** A copy in which one random part is replaced. */
export function bentValue(value: unknown, random: Random): unknown {
  const isHere = random.chance(0.3)
  if (!isHere && Array.isArray(value) && value.length > 0) {
    const at = random.below(value.length)
    return value.map((item, index) => (index === at ? bentValue(item, random) : item))
  }
  if (!isHere && isObject(value) && Object.keys(value).length > 0) {
    const at = random.pick(Object.keys(value))
    const entries = Object.entries(value).map(([name, part]) => [
      name,
      name === at ? bentValue(part, random) : part,
    ])
    return Object.fromEntries(entries)
  }
  return isObject(value) && random.chance(0.6) ? bentObject(value, random) : another(value, random)
}

function bentObject(value: Readonly<Record<string, unknown>>, random: Random): unknown {
  const entries = Object.entries(value)
  const some = entries.length === 0 ? undefined : random.pick(entries)
  switch (random.below(3)) {
    case 0:
      return Object.fromEntries(entries.filter(entry => entry !== some))
    case 1:
      return Object.fromEntries([...entries, [random.pick(NAMES), another(some?.[1], random)]])
    default:
      return Object.fromEntries(entries.map(entry => (entry === some ? [`${entry[0]} `, entry[1]] : entry)))
  }
}

/** A value of another type or of an unusual size. */
function another(value: unknown, random: Random): unknown {
  const make = random.pick<() => unknown>([
    () => null,
    () => random.pick(NUMBERS),
    () => random.chance(0.5),
    () => [],
    () => ({}),
    () => [value],
    () => ({ value }),
    () => nested(value, random.pick(DEPTHS)),
    () => random.pick(['x', '😀', '\u0000']).repeat(random.pick(LENGTHS)),
    () => Array.from({ length: random.pick([2, 33, 10_001]) }, () => short(value)),
    () => JSON.stringify(value) ?? '',
    () => random.pick(ODD_TEXTS),
  ])
  return make()
}

/** A value that is short enough to be repeated ten thousand times in a body. */
function short(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, 20) : Number(typeof value !== 'boolean')
}

function nested(value: unknown, depth: number): unknown {
  let around = value
  for (let level = 0; level < depth; level++) around = level % 2 === 0 ? [around] : { a: around }
  return around
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
