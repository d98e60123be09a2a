/** URLs that servers interpret differently, matched against mapping rules (conditions.md 10.3). */
import { describe, expect, test } from 'vitest'
import type { MappingPut, MappingRule } from '#model/change.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { ENGINES } from './engines.ts'

/** A rule that maps GET requests for `url` to `type`. */
function rule(url: string, type = 'page', more: Partial<MappingRule> = {}): MappingRule {
  return { url, method: 'get', type, action: 'read', priority: 0, ...more }
}

function config(rules: readonly MappingRule[]): MappingPut {
  return { kind: 'mapping-put', config: 'a', createdAt: 1, rules }
}

describe.each(ENGINES)('$name: a URL that some server could map to a narrower rule', ({ newEngine }) => {
  const engineOf = (change: MappingPut) => {
    const engine = newEngine()
    engine.apply([change])
    return engine
  }
  const PUBLIC = rule('https://a.org/{page}', 'public')
  const WIDE = rule('https://a.org/{a}/{b}', 'wide')
  const ADMIN = [rule('https://a.org/admin', 'admin'), rule('https://a.org/admin/{rest}', 'below')]
  const askedOf = (rules: readonly MappingRule[]) => (url: string) =>
    engineOf(config(rules)).mapped('get', `https://a.org${url}`)?.type ?? null

  test.each([
    // Upper and lower case, in any language.
    '/Admin',
    '/ADMIN/',
    '/%41dmin',
    '/adm%C4%B1n',
    '/adm%C4%B0n',
    // Percent signs that are themselves escaped.
    '/%2561dmin',
    '/%25%36%31dmin',
    '/%25252561dmin',
    '/%25u0061dmin',
    '/%25c1%25a1dmin',
    '/%25e0%2581%25a1dmin',
    // More levels of escapes than any server decodes, and the same text decoded by some levels.
    `/%${'25'.repeat(20)}61dmin`,
    // Encoded slashes and backslashes at the start, inside and at the end.
    '/admin%2Fusers',
    '/admin%2fusers',
    '/admin%5Cusers',
    '/admin%252Fusers',
    '/admin%255cusers',
    '/Admin%2Fusers',
    '/admin%2Fa%5Cb',
    '/admin%2F',
    '/%2Fadmin',
    '/admin%5C',
    '/%2F/admin',
    '/admin%2F%2Fusers',
    '/admin%EF%BC%8Fusers',
    '/admin%EF%BC%BCusers',
    // Parameters, and delimiters that end the path.
    '/admin%3B',
    '/admin%3Bx=1',
    '/admin%253Bx',
    '/admin%EF%BC%9Bx',
    '/admin%3Fx',
    '/admin%3Fx/y',
    '/admin%23x',
    '/admin%2523x/y',
    '/admin%3Bx%2Fusers',
    // Dots and spaces that some file systems drop.
    '/admin.',
    '/admin..',
    '/admin%2E',
    '/admin%20',
    '/%20admin',
    '/admin.%20.',
    '/admin%E3%80%80',
    // Other Unicode forms of the same characters.
    '/%EF%BD%81dmin',
    '/ａｄｍｉｎ',
    '/%F0%9D%90%9Admin',
    '/%E2%93%90dmin',
    '/ad%C2%ADmin',
    '/admin%E2%80%8B',
    '/%EF%BC%85%EF%BC%96%EF%BC%91dmin',
  ])('%s matches no rule', url => {
    expect(askedOf([PUBLIC, WIDE, ...ADMIN])(url)).toBeNull()
    expect(askedOf([...ADMIN, PUBLIC, WIDE])(url)).toBeNull()
  })

  test.each([
    '/．．/admin',
    '/x/%EF%BC%8E%EF%BC%8E',
    '/x/%E2%80%A5',
    '/x/.%E2%80%8B.',
    '/x/..%20',
    '/x/%25EF%25BC%258E.',
    '/x%EF%BC%8F..',
    '/x/%2500',
    '/x/%250a',
    '/x/%C0%AF',
    '/x/%C0%AE%C0%AE',
    '/x/%ED%A0%80',
    '/x/%u002e',
    `/x/a${'%CC%81'.repeat(31)}`,
    `/x/${'\uFDFA'.repeat(99)}`,
  ])('%s matches no rule, regardless of the rules', url => {
    expect(askedOf([PUBLIC, WIDE])(url)).toBeNull()
  })

  test.each([
    ['/users', 'public'],
    ['/Users', 'public'],
    ['/A1B2-C3', 'public'],
    ['/caf%C3%A9', 'public'],
    ['/cafe%CC%81', 'public'],
    ['/%EF%BC%A1', 'public'],
    ['/a%3Fb', 'public'],
    ['/100%25', 'public'],
    ['/100%25ABC', 'public'],
    ['/administrator', 'public'],
    ['/admin.html', 'public'],
    ['/x%3By', 'public'],
    ['/a.b.', 'public'],
    ['/x/Admin', 'wide'],
    ['/x/what%3F', 'wide'],
    ['/what%3F/x', 'wide'],
    ['/admin', 'admin'],
    ['/admin/', 'admin'],
    ['/admin?x=%2Fusers', 'admin'],
    ['/admin/Users', 'below'],
    ['/admin/a%2Fb', 'below'],
    ['/admin/%C3%A4', 'below'],
  ])('%s is an ordinary URL: %s', (url, type) => {
    expect(askedOf([PUBLIC, WIDE, ...ADMIN])(url)).toBe(type)
  })

  test('an encoded slash is part of its segment unless a rule matches the split path', () => {
    expect(askedOf([PUBLIC])('/admin%2Fusers')).toBe('public')
    expect(askedOf([PUBLIC, ADMIN[0]!])('/admin%2Fusers')).toBe('public')
    expect(askedOf([rule('https://a.org/files/{path}', 'files'), PUBLIC])('/files/a%2Fb%5Cc')).toBe('files')
  })

  test('a rule with a higher priority does not hide a rule for the split path', () => {
    const page = rule('https://a.org/pages/{id}', 'page', { priority: 1 })
    const asked = askedOf([page, rule('https://a.org/pages/{id}/comments', 'comments')])
    expect([asked('/pages/1'), asked('/pages/1%2Fcomments'), asked('/pages/1%2Fx')]).toEqual([
      'page',
      null,
      'page',
    ])
  })

  test('a rule with precedence matches every spelling', () => {
    const asked = askedOf([{ ...PUBLIC, priority: 1 }, ...ADMIN])
    expect(['/admin', '/Admin', '/admin%3Bx', '/admin.'].map(asked)).toEqual(Array(4).fill('public'))
  })

  test.each([
    'a.org.',
    'a.org:0443',
    'ａ.org',
    'a。org',
    'a%2Eorg',
    'a.org:',
    'A.ORG',
    '%61.org:443',
    'a.org.:443',
  ])('the host %s never reaches the rules of other hosts', host => {
    const engine = engineOf(
      config([rule('https://{host}/{page}', 'wide'), rule('https://a.org/x', 'narrow')]),
    )
    expect([null, 'narrow']).toContain(engine.mapped('get', `https://${host}/x`)?.type ?? null)
    expect(engine.mapped('get', 'https://b.org/x')?.type).toBe('wide')
  })

  test('if a rule is case-sensitive, wider rules match the URL in another case, but in no other spelling', () => {
    const sensitive = ADMIN.map(ruled => ({ ...ruled, caseSensitive: true }))
    const asked = askedOf([PUBLIC, WIDE, ...sensitive])
    const inOtherCase = ['/Admin', '/%41dmin', '/Admin/x', '/ADMIN%2Fx'].map(asked)
    expect(inOtherCase).toEqual(['public', 'public', 'wide', null])
    const inSameCase = ['/admin', '/admin.', '/%2561dmin', '/admin%2Fx', '/%EF%BD%81dmin'].map(asked)
    expect(inSameCase).toEqual(['admin', null, null, null, null])
  })

  test('if encoded slashes are literal in a rule, wider rules match its URL with encoded slashes, but no other spelling', () => {
    const literal = ADMIN.map(ruled => ({ ...ruled, encodedSlashes: 'literal' as const }))
    const xy = rule('https://a.org/x%2Fy', 'xy', { encodedSlashes: 'literal' })
    const asked = askedOf([PUBLIC, ...literal, xy])
    expect(['/admin%2Fusers', '/admin%5Cusers', '/Admin%2Fusers'].map(asked)).toEqual(Array(3).fill('public'))
    expect(
      ['/Admin', '/admin%3Bx', '/admin%3Fx/y', '//admin', '/x%2Fy', '/X%2Fy', '/x%252Fy'].map(asked),
    ).toEqual([null, null, null, null, 'xy', null, null])
  })

  test.each([
    '?Mode=all',
    '?mode=ALL',
    '?mode[]=all',
    '?mode[0]=all',
    '?mode%5B%5D=all',
    '?%6Dode=all&MODE=few',
    '?mode=all&mode[]=few',
    '?%256Dode=all',
    '?mode=%2561ll',
    '?mode=all+',
    '?+mode=all',
    '?v=1;mode=all',
    '?v=1%26mode=all',
    '?v=1%3Bmode=all',
    '?mode%3Dall',
    '?ｍode=all',
    '?mode=all&mode=few',
    '%3Fmode=all',
  ])('the query of %s matches no rule, because a server could match it to a narrower rule', query => {
    const rules = [rule('https://a.org/{x}', 'wide'), rule('https://a.org/x?mode=all', 'narrow')]
    expect(askedOf(rules)(`/x${query}`)).toBeNull()
    expect(askedOf(rules)(`/x?mode=few`)).toBe('wide')
    expect(askedOf(rules)(`/y${query.replace('%3F', '?')}`)).toBe('wide')
    expect(askedOf(rules)('/x?mode=all&note=a%26b;c&Mode=all')).toBe('narrow')
  })

  test('dots and spaces in names of members are treated as underscores, as some servers do', () => {
    const rules = [rule('https://a.org/x', 'wide'), rule('https://a.org/x?a_b=1', 'narrow')]
    const found = ['?a.b=1', '?a+b=1', '?a%20b=1', '?a-b=1'].map(query => askedOf(rules)(`/x${query}`))
    expect(found).toEqual([null, null, null, 'wide'])
  })

  test('a case-sensitive rule distinguishes the case of its query', () => {
    const narrow = rule('https://a.org/x?mode=all', 'narrow', { caseSensitive: true })
    const asked = askedOf([rule('https://a.org/x', 'wide'), narrow])
    const found = ['/x?Mode=all', '/x?mode=ALL', '/x?mode[]=all', '/x?mode=all'].map(asked)
    expect(found).toEqual(['wide', 'wide', null, 'narrow'])
  })
})

test('matching hostile URLs of encoded slashes terminates, and URLs that exceed the comparison limit never match', () => {
  const rules = Array.from({ length: 1_024 }, (_, index) =>
    rule(
      `https://a.org/${Array.from({ length: 10 }, (_part, bit) => ((index >> bit) & 1 ? `{p${bit}}` : 'a')).join('/')}`,
      `t${index}`,
    ),
  )
  const engine = SharedEngine.with([config(rules)])
  const asked = (url: string) => engine.mapped('get', `https://a.org${url}`)?.type ?? null
  expect(asked(`/${Array(10).fill('a').join('/')}`)).toBe('t0')
  expect(asked(`/${Array(2_000).fill('a').join('%2F')}`)).toBeNull()
})
