/** Random mapping rules and URLs: the compiled tree finds what holding each rule against the URL finds. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MappingPut, MappingRule } from '#model/change.ts'
import { readMappingUrl } from '#model/mapping-urls.ts'
import { SavingEngine, SharedEngine } from '#testing/engines/shared-engine.ts'
import { MapEngine } from '#testing/reference-engine/map-engine.ts'
import { holdsFor, howToRepeat } from './seeded.ts'

const RUNS = 400
const URLS_A_RUN = 40

/** Few of each, so that rules and URLs meet. */
const text = fc.constantFrom('a', 'b', 'A', 'a%2Fb', '%61', 'ä', '%C3%A4', '', 'a+b', 'a%20b')
const hostile = fc.constantFrom(
  '..',
  '.',
  '%2e%2E',
  '..;x',
  '%',
  '%zz',
  '%C3',
  'a\\..',
  '{x}',
  'a#b',
  '\t',
  'a;b',
  'a%0A',
  '%252e',
)
const placeholder = (name: string) => fc.constant(`{${name}}`)
const head = fc.constantFrom('https://h', 'HTTPS://H', 'https://{host}', '{scheme}://h', 'http://h', '', 'h')
const askedHead = fc.constantFrom('https://h', 'hTTps://H', 'https://g', 'http://h', '', 'h', '%68ttps://%48')

function joined(
  start: fc.Arbitrary<string>,
  segments: readonly fc.Arbitrary<string>[],
  query: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<string> {
  return fc
    .tuple(start, fc.tuple(...segments), fc.constantFrom('', '/'), query)
    .map(([begin, parts, end, members]) => {
      const path = `${[begin, ...parts].join('/')}${end}`
      return members.length === 0 ? path : `${path}?${members.join('&')}`
    })
}

const memberName = fc.constantFrom('p', '%70', 'q', 'r')
const ruleUrl = fc
  .integer({ min: 0, max: 3 })
  .chain(length =>
    joined(
      head,
      Array.from({ length }, (_, index) => fc.oneof(text, placeholder(`s${index}`))),
      fc.array(
        fc.tuple(memberName, fc.oneof(text, placeholder('v'))).map(([name, value]) => `${name}=${value}`),
        { maxLength: 2 },
      ),
    ),
  )
  .filter(url => typeof readMappingUrl(url) !== 'string')

const askedUrl = fc.integer({ min: 0, max: 3 }).chain(length =>
  joined(
    askedHead,
    Array.from({ length }, () =>
      fc.oneof({ arbitrary: text, weight: 20 }, { arbitrary: hostile, weight: 1 }),
    ),
    fc.array(
      fc.tuple(memberName, fc.constantFrom('', '='), text).map(parts => parts.join('')),
      { maxLength: 4 },
    ),
  ),
)

const method = fc.constantFrom('get', 'post')
const rule: fc.Arbitrary<MappingRule> = fc.record({
  url: ruleUrl,
  method,
  type: fc.stringMatching(/^t[0-9]{1,3}$/u),
  action: fc.constantFrom('read', null),
  priority: fc.constantFrom(0, 0, 1, -1),
})
const config: fc.Arbitrary<MappingPut> = fc.record({
  kind: fc.constant('mapping-put' as const),
  config: fc.constantFrom('a', 'b', 'c'),
  createdAt: fc.integer({ min: 1, max: 2 }),
  rules: fc.array(rule, { maxLength: 8 }),
})
const world = fc.record({
  configs: fc.array(config, { minLength: 1, maxLength: 4 }),
  urls: fc.array(fc.tuple(fc.constantFrom('GET', 'get', 'POST'), askedUrl), {
    minLength: URLS_A_RUN,
    maxLength: URLS_A_RUN,
  }),
})

test('a URL finds the rule that counts, and what its placeholders stand for', () => {
  const found = { mapped: 0, attributes: 0, members: 0, none: 0 }
  holdsFor(world, RUNS, ({ configs, urls }) => {
    const oracle = new MapEngine()
    const engines = [new SharedEngine(), new SavingEngine()]
    for (const change of configs) {
      for (const engine of [oracle, ...engines]) engine.apply([change])
      for (const [verb, url] of urls) {
        const right = oracle.mapped(verb, url)
        for (const engine of engines) expect(engine.mapped(verb, url), `${verb} ${url}`).toEqual(right)
        if (right === null) found.none += 1
        else found.mapped += 1
        if (Object.keys(right?.attributes ?? {}).length > 0) found.attributes += 1
        if (right !== null && Object.hasOwn(right.attributes, 'v')) found.members += 1
      }
    }
  })
  // It says something only if both kinds are met.
  expect(Math.min(...Object.values(found)), `${howToRepeat} ${JSON.stringify(found)}`).toBeGreaterThan(50)
})
