/** Random mapping rules and URLs: the compiled rules find the same rule as a comparison with each rule. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MappingPut, MappingRule } from '#model/change.ts'
import { readMappingUrl } from '#model/mapping-urls.ts'
import { SavingEngine, SharedEngine } from '#testing/engines/shared-engine.ts'
import { MappingOracle } from '#testing/oracle/mapping.ts'
import { holdsFor } from './seeded.ts'

const RUNS = 400
const URLS_A_RUN = 40

/** Few different values, so that rules and URLs match often. */
const text = fc.constantFrom('a', 'b', 'A', 'a%2Fb', '%61', 'ä', '%C3%A4', '', 'a+b', 'a%20b')
/** Other spellings of the values of `text`. */
const spelled = fc.constantFrom(
  '%2561',
  'B.',
  'a%3Bx',
  'a%5Cb',
  '%EF%BD%81',
  'a%252Fb%2Fa',
  '%2Fa',
  'b%3Fp=a',
  'Ä',
  'A%CC%88',
)
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
const askedHead = fc.constantFrom(
  'https://h',
  'hTTps://H',
  'https://h:443',
  'https://h.',
  'https://g',
  'http://h',
  '',
  'h',
  '%68ttps://%48',
)

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

const memberName = fc.constantFrom('p', '%70', 'q', 'r', 'P', 'p[]', '%2570')
const ruleUrl = fc
  .integer({ min: 0, max: 3 })
  .chain(length =>
    joined(
      head,
      Array.from({ length }, (_, index) =>
        fc.oneof(
          { arbitrary: text, weight: 8 },
          { arbitrary: spelled, weight: 1 },
          { arbitrary: placeholder(`s${index}`), weight: 8 },
        ),
      ),
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
      fc.oneof(
        { arbitrary: text, weight: 40 },
        { arbitrary: spelled, weight: 6 },
        { arbitrary: hostile, weight: 1 },
      ),
    ),
    fc.array(
      fc.tuple(memberName, fc.constantFrom('', '='), text).map(parts => parts.join('')),
      { maxLength: 4 },
    ),
  ),
)

const method = fc.constantFrom('get', 'post')
const rule = fc.record({
  url: ruleUrl,
  method,
  type: fc.stringMatching(/^t[0-9]{1,3}$/u),
  action: fc.constantFrom('read', null),
  priority: fc.constantFrom(0, 0, 1, -1),
  caseSensitive: fc.constantFrom(false, false, true),
  encodedSlashes: fc.constantFrom(undefined, undefined, 'literal'),
})
type Drawn = Omit<MappingRule, 'encodedSlashes'> & { readonly encodedSlashes: 'literal' | undefined }

function withoutAbsent({ encodedSlashes, ...fields }: Drawn): MappingRule {
  return { ...fields, ...(encodedSlashes && { encodedSlashes }) }
}

const config: fc.Arbitrary<MappingPut> = fc.record({
  kind: fc.constant('mapping-put' as const),
  config: fc.constantFrom('a', 'b', 'c'),
  createdAt: fc.integer({ min: 1, max: 2 }),
  rules: fc.array(rule.map(withoutAbsent), { maxLength: 8 }),
})
const world = fc.record({
  configs: fc.array(config, { minLength: 1, maxLength: 4 }),
  urls: fc.array(fc.tuple(fc.constantFrom('GET', 'get', 'POST'), askedUrl), {
    minLength: URLS_A_RUN,
    maxLength: URLS_A_RUN,
  }),
})

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

test('a URL matches the rule with precedence, with the values of its placeholders', () => {
  const found = { mapped: 0, attributes: 0, members: 0, none: 0 }
  const property = ({ configs, urls }: World) => {
    const oracle = new MappingOracle()
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
  }
  const least = { mapped: 20, attributes: 20, members: 5, none: 20 }
  holdsFor(world, { runs: RUNS, met: found, least }, property)
})

/** Each function returns another spelling of a character, which some server treats as the same character. */
const RESPELLINGS: readonly ((character: string) => string)[] = [
  character => character,
  character => character,
  character => character.toUpperCase(),
  character => escaped(character),
  character => escaped(character).replaceAll('%', '%25'),
  character => escaped(String.fromCodePoint(character.codePointAt(0)! + 0xfe_e0)),
  character => `${character}%C2%AD`,
]
const ENDS = ['', '', '/', '.', '%20', '%2F', '%5C', '%3Bx', '%3Fx', '%23x', '%253Bx']

function escaped(plain: string): string {
  return [...new TextEncoder().encode(plain)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

test('no spelling of a URL finds a different rule than the plain form of the URL', () => {
  const segment = fc.constantFrom('a', 'b', 'ab')
  const plain = fc.array(segment, { minLength: 1, maxLength: 3 })
  const ruled = fc
    .array(fc.oneof(segment, segment, fc.constant('{}')), { minLength: 1, maxLength: 3 })
    .map(parts => parts.map((part, index) => (part === '{}' ? `{p${index}}` : part)).join('/'))
  const found = { alike: 0, none: 0 }
  const spellings = fc.record({
    urls: fc.uniqueArray(ruled, { minLength: 1, maxLength: 8 }),
    priorities: fc.array(fc.constantFrom(0, 0, 1), { minLength: 8, maxLength: 8 }),
    asked: plain,
    draws: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
  })
  const run = { runs: 4 * RUNS, met: found, least: { alike: 5, none: 5 } }
  holdsFor(spellings, run, ({ urls, priorities, asked, draws }) => {
    const engine = new SharedEngine()
    const rules = urls.map((url, index) => ({
      url: `https://h/${url}`,
      method: 'get' as const,
      type: `t${index}`,
      action: null,
      priority: priorities[index]!,
    }))
    engine.apply([{ kind: 'mapping-put', config: 'a', createdAt: 1, rules }])
    const right = engine.mapped('get', `https://h/${asked.join('/')}`)?.type
    if (right === undefined) return
    let drawn = 0
    const one = <Item>(items: readonly Item[]): Item => items[draws[drawn++]! % items.length]!
    const spelt = asked.map(part => [...part].map(character => one(RESPELLINGS)(character)).join(''))
    const separator = () => one(['/', '/', '/', '%2F', '%2f', '%5C', '%252f', '%EF%BC%8F'])
    const path = spelt.reduce((before, part) => `${before}${separator()}${part}`)
    const url = `https://${one(['h', 'H', 'h:443'])}/${path}${one(ENDS)}`
    const type = engine.mapped('get', url)?.type ?? null
    expect([null, right], url).toContain(type)
    found[type === null ? 'none' : 'alike'] += 1
  })
})
