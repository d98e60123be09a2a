/** Size of a JSON value in UTF-8 as `JSON.stringify` writes it, up to a limit. */
import { expect, test } from 'vitest'
import { jsonBytes } from '#model/text/json-text.ts'

const TEXTS = ['', 'plain', 'q"\\/\n\u0001\u007f', 'é', 'ł', '漢', '\u{1f600}', '__proto__', 'x'.repeat(50)]
const NUMBERS = [0, -1, 1.5, 1e21, -2.5e-300, 9_007_199_254_740_991]

/** A random value for this seed, nested up to four levels. */
function valueOf(seed: number, depth = 0): unknown {
  const pick = seed % (depth < 4 ? 7 : 4)
  const rest = Math.floor(seed / 7) + 1
  if (pick === 0) return TEXTS[rest % TEXTS.length]
  if (pick === 1) return NUMBERS[rest % NUMBERS.length]
  if (pick === 2) return [true, false, null][rest % 3]
  if (pick === 3) return rest % 2 === 0 ? [] : {}
  const parts = Array.from({ length: 1 + (rest % 4) }, (_, n) => valueOf(rest * 31 + n * 17, depth + 1))
  return pick === 4
    ? parts
    : Object.fromEntries(parts.map((part, n) => [`${n}${TEXTS[(rest + n) % TEXTS.length]}`, part]))
}

test('the size of a JSON value equals the length of its serialized text', () => {
  for (let seed = 0; seed < 2_000; seed += 1) {
    const value = valueOf(seed)
    const bytes = Buffer.byteLength(JSON.stringify(value))
    expect(jsonBytes(value, Number.POSITIVE_INFINITY), JSON.stringify(value)).toBe(bytes)
    expect(jsonBytes(value, bytes)).toBe(bytes)
    for (const less of [bytes - 1, bytes >> 1, 1])
      if (less < bytes) expect(jsonBytes(value, less)).toBeGreaterThan(less)
  }
})

test('counting the size of a long JSON value stops at the limit', () => {
  const looked = { count: 0 }
  const items = new Proxy(
    Array.from({ length: 1_000 }, () => 'item'),
    {
      get: (target, name) => {
        if (typeof name === 'string' && name !== 'length') looked.count += 1
        return Reflect.get(target, name) as unknown
      },
    },
  )
  expect(jsonBytes(items, 100)).toBeGreaterThan(100)
  expect(looked.count).toBeLessThan(20)
})
