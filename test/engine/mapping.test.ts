/** Mapping rules translate a request URL into a check (conditions.md 10.3), on every engine. */
import { describe, expect, test } from 'vitest'
import type { Change, MappingPut, MappingRule } from '#model/change.ts'
import { ASKED_QUERY_MEMBERS_MAX, MAPPING_SEGMENTS_MAX } from '#model/limits.ts'
import { removed, resourceType } from '#testing/engines/changes.ts'
import { ENGINES, STRAINED_ENGINES } from './engines.ts'

/** A rule that maps GET requests for `url` to `type`. */
function rule(url: string, type = 'page', more: Partial<MappingRule> = {}): MappingRule {
  return { url, method: 'get', type, action: 'read', priority: 0, ...more }
}

function config(rules: readonly MappingRule[], name = 'a', createdAt = 1): MappingPut {
  return { kind: 'mapping-put', config: name, createdAt, rules }
}

describe.each([...ENGINES, ...STRAINED_ENGINES.slice(4, 6)])('$name', ({ newEngine }) => {
  function engineOf(...changes: readonly Change[]) {
    const engine = newEngine()
    engine.apply(changes)
    return engine
  }
  const onlyRule = (ruled: MappingRule, url: string, method = 'get') =>
    engineOf(config([ruled])).mapped(method, url)
  const attributesOf = (ruled: string, url: string) => onlyRule(rule(ruled), url)?.attributes ?? null

  test.each([
    ['https://a.org/users', 'https://a.org/users', {}],
    ['https://a.org/users', 'https://a.org/users/', {}],
    ['https://a.org/users/', 'https://a.org/users', {}],
    ['https://a.org', 'https://a.org/', {}],
    ['https://a.org/users', 'https://a.org/users//', null],
    ['https://a.org/users', 'https://a.org//users', null],
    ['https://a.org/users', 'https://a.org/users/1', null],
    ['https://a.org/users', 'https://a.org/Users', null],
    ['https://a.org/users', 'http://a.org/users', null],
    ['https://a.org/users', 'https://b.org/users', null],
    // A URL with the default port equals a URL without a port.
    ['https://a.org/users', 'https://a.org:443/users', {}],
    ['https://a.org/users', 'https://a.org:/users', {}],
    ['https://A.org:443/users', 'HTTPS://a.org/users', {}],
    ['http://a.org/users', 'http://a.org:80/users', {}],
    ['https://{host}/users', 'https://a.org:443/users', { host: 'a.org' }],
    ['https://a.org/users', 'https://a.org:80/users', null],
    ['https://a.org/users', 'https://a.org:8443/users', null],
    ['https://a.org:8443/users', 'https://a.org:8443/users', {}],
    ['https://{host}/users', 'https://eve@a.org/users', null],
    ['https://a.org/users', '/users', null],
    ['https://a.org/users', '', null],
    // The case of the scheme and the host is ignored.
    ['https://a.org/users', 'HTTPS://A.org/users', {}],
    ['HTTPS://A.org/users', 'https://a.ORG/users', {}],
    ['{scheme}://A.org', 'ftp://a.org', null],
    ['https://{host}/users', 'https://A.org/users', { host: 'a.org' }],
    // A placeholder matches exactly one non-empty segment.
    ['https://a.org/users/{id}', 'https://a.org/users/1', { id: '1' }],
    ['https://a.org/users/{id}', 'https://a.org/users/1/', { id: '1' }],
    ['https://a.org/users/{id}', 'https://a.org/users/', null],
    ['https://a.org/users/{id}', 'https://a.org/users//', null],
    ['https://a.org/users/{id}', 'https://a.org/users/1/2', null],
    ['https://a.org/{a}/x/{b}', 'https://a.org//x/2', null],
    ['https://a.org/{a}/x/{b}', 'https://a.org/1/x/2', { a: '1', b: '2' }],
    ['https://a.org/{key}', 'https://a.org/1', { key: '1' }],
    ['https://a.org/{__proto__}', 'https://a.org/1', Object.fromEntries([['__proto__', '1']])],
    // A path is split into segments before each segment is decoded, once.
    ['https://a.org/{id}', 'https://a.org/a%2Fb', { id: 'a/b' }],
    ['https://a.org/{id}', 'https://a.org/a%252Fb', { id: 'a%2Fb' }],
    ['https://a.org/{id}', 'https://a.org/%C3%A4%20+', { id: 'ä +' }],
    ['https://a.org/{id}', 'https://a.org/a%3Bb%5Cc', { id: 'a;b\\c' }],
    ['https://a.org/%61/{id}', 'https://a.org/a/%7Bid%7D', { id: '{id}' }],
    ['https://a.org/a/%7Bid%7D', 'https://%61.org/%61/{id}', {}],
    ['https://a.org/a/b', 'https://a.org/a%2Fb', null],
    ['https://a.org/a%2Fb', 'https://a.org/a/b', null],
    ['https://a.org/a%2Fb', 'https://a.org/a%2fb', {}],
    // Invalid escapes never match, anywhere in the URL.
    ['https://a.org/{id}', 'https://a.org/100%', null],
    ['https://a.org/{id}', 'https://a.org/%zz', null],
    ['https://a.org/{id}', 'https://a.org/%C3', null],
    ['https://a.org/{id}', 'https://a.org/%C3/%A4', null],
    ['https://a.org/{id}', 'https://a.org/1?x=%', null],
    ['https://a.org/{id}', 'https://a.org/1#%', null],
    // URLs that another server could normalize to a different path never match.
    ['https://a.org/{a}/{b}', 'https://a.org/x/..', null],
    ['https://a.org/{a}/{b}', 'https://a.org/./x', null],
    ['https://a.org/{a}/{b}', 'https://a.org/%2E%2e/x', null],
    ['https://a.org/{a}/{b}', 'https://a.org/x%2F../y', null],
    ['https://a.org/{a}/{b}', 'https://a.org/x\\..\\z/y', null],
    ['https://a.org/{a}/{b}', 'https://a.org/..;v=1/y', null],
    ['https://a.org/{a}/{b}', 'https://a.org/.\t./y', null],
    ['https://a.org/{a}/{b}', 'https://a.org/%252e%252e/x', null],
    ['https://a.org/{a}/{b}', 'https://a.org/x/y%25252F.%252E', null],
    ['https://a.org/{a}/{b}', 'https://a.org/..%00/x', null],
    ['https://a.org/{a}/{b}', 'https://a.org/..%3Bv=1/x', null],
    ['https://a.org/{a}/{b}', 'https://a.org/..%253bv=1/x', null],
    // Segments that another server could truncate never match.
    ['https://a.org/{id}', 'https://a.org/admin;v=1', null],
    ['https://a.org/{id}', 'https://a.org/admin;', null],
    ['https://a.org/{id}', 'https://a.org/admin\\', null],
    ['https://a.org/{id}', 'https://a.org/\\admin', null],
    ['https://a.org/{id}', 'https://a.org/admin%00', null],
    ['https://a.org/{id}', 'https://a.org/admin%0A', null],
    ['https://a.org/{id}', 'https://a.org/%7fadmin', null],
    ['https://a.org/{id}', 'https://a.org/admin ', null],
    ['https://a.org/{id}', 'https://a.org/x#/../admin', null],
    ['https://a.org/{id}', 'https://a.org/x?y#?role=admin', null],
    ['https://a.org/{id}', 'https://a.org/x?role%00=admin', null],
    ['https://a.org/{id}', 'https://a.org/x?note=a%0Ab;c\\d', { id: 'x' }],
    ['https://a.org/{a}/{b}', 'https://a.org/..a/...', { a: '..a', b: '...' }],
    // Query members of the rule are required; other members are ignored.
    ['https://a.org/x', 'https://a.org/x?a=1&b', {}],
    ['https://a.org/x?a=1', 'https://a.org/x?b=2&a=1', {}],
    ['https://a.org/x?a=1', 'https://a.org/x/?a=1', {}],
    ['https://a.org/x?a=1', 'https://a.org/x', null],
    ['https://a.org/x?a=1', 'https://a.org/x?a=2', null],
    ['https://a.org/x?a=1', 'https://a.org/x#?a=1', null],
    ['https://a.org/x?a=1&b=2', 'https://a.org/x?b=2&&a=1', {}],
    ['https://a.org/x?a=1&b=2', 'https://a.org/x?a=1', null],
    ['https://a.org/x?a', 'https://a.org/x?a=', {}],
    ['https://a.org/x?a=', 'https://a.org/x?a', {}],
    ['https://a.org/x?a=b=c', 'https://a.org/x?a=b%3Dc', {}],
    ['https://a.org/x?a=b/c', 'https://a.org/x?a=b%2Fc', {}],
    ['https://a.org/x?%61=%62', 'https://a.org/x?a=b', {}],
    ['https://a.org/x?a={id}', 'https://a.org/x?a=%2F', { id: '/' }],
    ['https://a.org/x?a={id}', 'https://a.org/x?a', { id: '' }],
    ['https://a.org/x?a={id}', 'https://a.org/x?b=1', null],
    ['https://a.org/{x}?a={y}', 'https://a.org/1?a=2', { x: '1', y: '2' }],
    // A plus sign is a space in the query, but not in the path.
    ['https://a.org/x?a=b+c', 'https://a.org/x?a=b%20c', {}],
    ['https://a.org/x?a=b%20c', 'https://a.org/x?a=b+c', {}],
    ['https://a.org/x?a=b%2Bc', 'https://a.org/x?a=b+c', null],
    ['https://a.org/x?a+b=1', 'https://a.org/x?a%20b=1', {}],
    ['https://a.org/x?a={id}', 'https://a.org/x?a=b+c%2B', { id: 'b c+' }],
    ['https://a.org/x?a={b+c}', 'https://a.org/x?a=1', { 'b+c': '1' }],
    ['https://a.org/b%20c', 'https://a.org/b+c', null],
    // A member with two values never matches, because the server behind the gateway could read either value.
    ['https://a.org/x?a=1', 'https://a.org/x?a=1&a=2', null],
    ['https://a.org/x?a=1', 'https://a.org/x?a=2&a=1', null],
    ['https://a.org/x?a={id}', 'https://a.org/x?a=1&%61=2', null],
    ['https://a.org/x?a={id}', 'https://a.org/x?a=1&a=1', { id: '1' }],
    ['https://a.org/x?a=1', 'https://a.org/x?a=1&b=1&b=2', {}],
  ])('rule %s and URL %s: %j', (ruled, url, attributes) => {
    expect(attributesOf(ruled, url)).toEqual(attributes)
  })

  test('the case of the method is ignored, and another method never matches', () => {
    const url = 'https://a.org/x'
    for (const method of ['get', 'GET', 'Get']) expect(onlyRule(rule(url), url, method)).not.toBeNull()
    for (const method of ['post', '', 'TRACE', 'get ']) expect(onlyRule(rule(url), url, method)).toBeNull()
  })

  test('a rule without an action uses the method in lower case', () => {
    const url = 'https://a.org/x'
    const ruled = rule(url, 'page', { action: null, method: 'delete' })
    expect(onlyRule(ruled, url, 'DELETE')).toEqual({ type: 'page', action: 'delete', attributes: {} })
  })

  describe('rule precedence', () => {
    const url = 'https://a.org/x/1?a=1'
    const first = (...rules: readonly MappingRule[]) => engineOf(config(rules)).mapped('get', url)?.type

    test('the matching rule with the highest priority is used', () => {
      const [wide, exact] = [
        rule('https://a.org/{a}/{b}', 'wide', { priority: 1 }),
        rule('https://a.org/x/1'),
      ]
      expect([first(wide, exact), first(exact, wide)]).toEqual(['wide', 'wide'])
      expect(first({ ...wide, priority: -1 }, exact)).toBe('page')
    })

    test('a literal segment has precedence over a placeholder at equal priority, even if the placeholder is longer', () => {
      const [long, short] = [rule('https://a.org/{long}/1', 'long'), rule('https://a.org/x/1', 'short')]
      expect([first(long, short), first(short, long)]).toEqual(['short', 'short'])
      const [any, known] = [rule('https://a.org/{a}/1?a={long}', 'any'), rule('https://a.org/x/1', 'known')]
      expect([first(any, known), first(known, any)]).toEqual(['known', 'known'])
    })

    test('more query members and literal values take precedence if the segments are equal', () => {
      const [none, any, known] = ['', '?a={placeholder}', '?a=1'].map((query, index) =>
        rule(`https://a.org/x/1${query}`, ['none', 'any', 'known'][index]!),
      ) as [MappingRule, MappingRule, MappingRule]
      expect([first(none, any), first(any, none)]).toEqual(['any', 'any'])
      expect([first(any, known), first(known, any)]).toEqual(['known', 'known'])
    })

    test('more literal text and then the older rule take precedence if literal segments are equal in number', () => {
      const [one, other] = [rule('https://a.org/{a}/1', 'one'), rule('https://a.org/x/{longer}', 'other')]
      expect([first(one, other), first(other, one)]).toEqual(['one', 'other'])
      const long = rule('https://a.org/{a}/1?a=1', 'long', { priority: 0 })
      expect([first(long, other), first(other, long)]).toEqual(['long', 'long'])
    })

    test('the rule of the config with the earlier creation time is used, independent of the order of changes', () => {
      const older = config([rule('https://a.org/{a}/1', 'older')], 'z', 1)
      const newer = config([rule('https://a.org/x/{b}', 'newer')], 'a', 2)
      for (const changes of [
        [older, newer],
        [newer, older],
      ]) {
        expect(engineOf(...changes).mapped('get', url)?.type).toBe('older')
      }
      const same = { ...newer, createdAt: 1 }
      expect(engineOf(older, same).mapped('get', url)?.type).toBe('newer')
    })

    test('no rule matches an ambiguous query, unless a rule with precedence matches first', () => {
      const ambiguous = rule('https://a.org/x/1?b=1', 'ambiguous')
      const wide = rule('https://a.org/x/{b}', 'wide')
      const asked = `${url}&b=1&b=2`
      expect(engineOf(config([ambiguous, wide])).mapped('get', asked)).toBeNull()
      const above = { ...wide, priority: 1 }
      expect(engineOf(config([ambiguous, above])).mapped('get', asked)?.type).toBe('wide')
      expect(engineOf(config([ambiguous, wide])).mapped('get', `${url}&b=2&b=3`)?.type).toBe('wide')
    })
  })

  test('a rule with the maximum number of segments does not match one more segment', () => {
    const segments = Array.from({ length: MAPPING_SEGMENTS_MAX }, (_, index) => `s${index}`).join('/')
    expect(attributesOf(segments, segments)).toEqual({})
    expect(attributesOf(segments, `${segments}/more`)).toBeNull()
  })

  test('a rule with query members does not match a query with more members than the limit', () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`).join('&')
    const [most, more] = [ASKED_QUERY_MEMBERS_MAX, ASKED_QUERY_MEMBERS_MAX + 1].map(
      count => `https://a.org/x?a=1&${members(count - 1)}`,
    ) as [string, string]
    expect([attributesOf('https://a.org/x?a=1', most), attributesOf('https://a.org/x?a=1', more)]).toEqual([
      {},
      null,
    ])
    expect(attributesOf('https://a.org/x', more)).toEqual({})
    const rules = [rule('https://a.org/x?z=1', 'asks'), rule('https://a.org/{a}', 'wide')]
    expect(engineOf(config(rules)).mapped('get', most)?.type).toBe('wide')
    expect(engineOf(config(rules)).mapped('get', more)).toBeNull()
  })

  test('a rule matches even after its type is removed, so that no wider rule is used instead', () => {
    const rules = config([rule('https://a.org/x', 'gone', { priority: 1 }), rule('https://a.org/{a}')])
    const engine = engineOf(resourceType('gone', 'read'), resourceType('page', 'read'), rules)
    expect(engine.mapped('get', 'https://a.org/x')?.type).toBe('gone')
    engine.apply([removed(resourceType('gone'))])
    expect(engine.mapped('get', 'https://a.org/x')?.type).toBe('gone')
  })

  test('configs that are put again, emptied or removed take effect immediately, independent of schema changes', () => {
    const engine = engineOf(config([rule('https://a.org/x')]), config([rule('https://a.org/y')], 'b'))
    const known = () => ['x', 'y', 'z'].filter(path => engine.mapped('get', `https://a.org/${path}`))
    expect(known()).toEqual(['x', 'y'])
    engine.apply([config([rule('https://a.org/z')])])
    expect(known()).toEqual(['y', 'z'])
    engine.apply([resourceType('page', 'read')])
    expect(known()).toEqual(['y', 'z'])
    engine.apply([config([])])
    expect(known()).toEqual(['y'])
    engine.apply([removed(config([], 'b')), removed(config([], 'unknown'))])
    expect(known()).toEqual([])
    engine.apply([config([rule('https://a.org/x')])])
    expect(known()).toEqual(['x'])
  })

  test('a rule of a later release, which this release cannot parse, never matches', () => {
    const unreadable = [
      rule('https://a.org/x{', 'page', { priority: 1 }),
      rule('https://a.org/x', 'page', { method: 'link' as MappingRule['method'], priority: 1 }),
    ]
    expect(engineOf(config(unreadable)).mapped('get', 'https://a.org/x{')).toBeNull()
    expect(engineOf(config(unreadable)).mapped('link', 'https://a.org/x')).toBeNull()
    const beside = config([rule('https://a.org/x')], 'b')
    expect(engineOf(config(unreadable), beside).mapped('get', 'https://a.org/x')?.type).toBe('page')
  })
})
