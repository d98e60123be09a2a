/**
 * Claim: no URL occupies a decision thread for long, whatever its form. The environment has the maximum
 * number of mapping rules. Processor time is measured, so that other processes have no effect.
 */
import { expect, test } from 'vitest'
import type { MappingRule } from '#model/change.ts'
import { ASKED_URL_LENGTH_MAX, MAPPING_RULES_MAX } from '#model/limits.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

function rule(url: string): MappingRule {
  return { url, method: 'get', type: 'page', action: 'read', priority: 0 }
}

test('expensive URLs of maximum length take little time with the maximum number of mapping rules', () => {
  const paths = Array.from({ length: MAPPING_RULES_MAX / 2 }, (_, n) =>
    rule(`https://a.org/t${n % 99}/x${n}/{id}`),
  )
  const queries = Array.from({ length: MAPPING_RULES_MAX / 2 }, (_, n) =>
    rule(`https://a.org/q?a=${n}&b={b}`),
  )
  const engine = new SharedEngine()
  engine.apply([{ kind: 'mapping-put', config: 'a', createdAt: 1, rules: [...paths, ...queries] }])
  const filled = (start: string, part: string) => {
    const count = Math.floor((ASKED_URL_LENGTH_MAX - start.length) / part.length)
    return start + part.repeat(count)
  }
  const hostile = [
    filled('https://a.org/', '/'),
    filled('https://a.org/', 'a/'),
    filled('https://a.org/', '%61'),
    filled('https://a.org/', '/..a'),
    filled('https://a.org/', '%2e%2'),
    filled('https://a.org/q?', 'z&'),
    filled('https://a.org/q?', 'a=1&'),
    filled('https://a.org/q?', '%61=%31&'),
    filled('https://a.org/', '%25252561'),
    filled('https://a.org/', 'a%2F'),
    filled('https://a.org/', '%EF%B7%BA'),
    filled('https://a.org/', `a${'\u0315\u0300'.repeat(15)}`),
    filled('https://a.org/q?', 'a=1;'),
  ]
  const rounds = 40
  for (const url of hostile) engine.mapped('get', url)
  const before = process.cpuUsage()
  for (let round = 0; round < rounds; round++) for (const url of hostile) engine.mapped('get', url)
  const { user: us, system } = process.cpuUsage(before)
  // The limit is 2 ms per URL. A URL takes about 0.1 ms. If every rule were compared, it would take at least
  // 10 ms.
  expect((us + system) / (rounds * hostile.length)).toBeLessThan(2_000)
})
