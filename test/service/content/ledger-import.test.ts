/** An import splits its rows into commits that every store accepts, so any store can import any export. */
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ContentShapes } from '#http/routing/content-shapes.ts'
import { exportedLines } from '#management/content/content-export.ts'
import { ContentImport } from '#management/content/import-rows.ts'
import { LedgerLoader } from '#management/content/ledger-import.ts'
import { CONTENT_LINE_BYTES_MAX, DERIVATIONS_MAX, PARTS_PER_BODY_MAX } from '#model/limits.ts'
import type { Commit } from '#store/ledger.ts'
import type { Store } from '#store/store.ts'
import { content, type Line } from '../../support/content.ts'
import { storedEnvironment } from '../../support/environment-service.ts'

/** Number of rows, and number of bytes, that every store accepts in one commit. */
const ROWS_MAX = 500
const BYTES_MAX = 2_000_000
const OPTIONS = {
  ...new ContentShapes(),
  now: 0,
  newId: randomUUID,
  attributesBytesMax: 65_536,
  heldBytesMax: 4e9,
}

/** Imports the text. Returns the size of each commit, the counts, and the export of the result. */
async function imported(text: string) {
  const { view, ledger } = await storedEnvironment()
  const commits: { readonly rows: number; readonly bytes: number }[] = []
  const commit = (each: Commit) => {
    const bytes = each.put.reduce((sum, row) => sum + row.value.length, 0)
    commits.push({ rows: each.put.length, bytes })
    return ledger.commit(each)
  }
  const counting = { view, ledger: { commit, feed: ledger.feed.bind(ledger) } }
  const store = { environment: () => Promise.resolve(counting) } as unknown as Store
  const loader = new LedgerLoader(
    store,
    () => randomBytes(16),
    () => OPTIONS,
  )
  const pieces = [Buffer.from(text)]
  const counts = await loader.load('environment', {
    next: () => Promise.resolve(pieces.pop() ?? null),
    cancel: () => {},
  })
  return { commits, counts, lines: [...exportedLines(view)] }
}

const TENANT = { kind: 'tenant', key: 'default', name: 'Default' }

/** Lines with `rules` rules on ten actions, and one condition set per ten rules. */
function ruled(rules: number): Line[] {
  const actions = Array.from({ length: 10 }, (_, n) => `a-${n}`)
  const sets = Array.from({ length: Math.ceil(rules / 10) }, (_, n) => `s-${n}`)
  return [
    { kind: 'resource', key: 'doc', name: 'Doc', actions: Object.fromEntries(actions.map(key => [key, {}])) },
    ...sets.map(key => ({ kind: 'condition_set', key, name: key, type: 'userset', conditions: {} })),
    ...Array.from({ length: rules }, (_, n) => ({
      kind: 'rule',
      user_set: sets[Math.floor(n / 10)],
      permission: `doc:${actions[n % 10]}`,
      resource_set: '__autogen_doc',
    })),
  ]
}

test('the rows of a schema are committed in batches, although all of them come from one line', async () => {
  const { commits, counts } = await imported(content(...ruled(3_000), TENANT))
  expect(counts).toMatchObject({ rule: 3_000, condition_set: 300, tenant: 1 })
  expect(Math.max(...commits.map(({ rows }) => rows))).toBe(ROWS_MAX)
})

test('rows with large attributes are committed in small batches', async () => {
  const attributes = { text: 'x'.repeat(60_000) }
  const users = Array.from({ length: 100 }, (_, n) => ({ kind: 'user', key: `user-${n}`, attributes }))
  const { commits } = await imported(content(TENANT, ...users))
  expect(commits.length).toBeGreaterThan(4)
  expect(Math.max(...commits.map(({ bytes }) => bytes))).toBeLessThan(BYTES_MAX)
})

test('an import of a schema yields after a few rows', () => {
  const lines = ruled(1_000)
  const it = new ContentImport(OPTIONS)
  const all = [{ kind: 'environment', format: 1 }, ...lines, TENANT].map(line => JSON.stringify(line))
  let stops = 0
  for (const [index, text] of all.entries()) {
    for (const work = it.takeInSlices({ number: index + 1, text }); !work.next().done;) stops += 1
  }
  expect(stops).toBeGreaterThan(1_000)
})

test('a resource that is too large for one line is exported in several lines, and the import restores it', async () => {
  const keys = Array.from({ length: PARTS_PER_BODY_MAX }, (_, n) => `action-${n}`)
  // Each character takes three bytes.
  const text = '鍵'.repeat(3_000)
  const action = { name: text, description: text }
  const half = (from: number) => Object.fromEntries(keys.slice(from, from + 500).map(key => [key, action]))
  const roles = { viewer: { name: 'Viewer', permissions: keys } }
  const { lines } = await imported(
    content(
      {
        kind: 'resource',
        key: 'doc',
        name: 'Doc',
        actions: half(0),
        attributes: { size: { type: 'number' } },
      },
      { kind: 'resource_part', resource: 'doc', actions: half(500), roles },
      { kind: 'resource', key: 'other', name: 'Other', actions: {} },
      TENANT,
    ),
  )
  expect(lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)).toBeGreaterThan(
    CONTENT_LINE_BYTES_MAX,
  )
  expect(Math.max(...lines.map(line => Buffer.byteLength(line)))).toBeLessThan(CONTENT_LINE_BYTES_MAX)
  const again = await imported(lines.join(''))
  expect(again.lines).toEqual(lines)
  expect(again.counts).toMatchObject({ resource: 2, tenant: 1 })
})

test.each([
  ['without its resource', { kind: 'resource_part', resource: 'doc', actions: { read: {} } }],
  ['of an earlier resource', { kind: 'resource_part', resource: 'first', actions: { read: {} } }],
  ['with an existing action', { kind: 'resource_part', resource: 'last', actions: { view: {} } }],
])('a line with a part of a resource is refused %s', async (_, part) => {
  const resource = (key: string) => ({ kind: 'resource', key, name: key, actions: { view: {} } })
  const importing = imported(content(resource('first'), resource('last'), part, TENANT))
  await expect(importing).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringMatching(/resource_part|occurs twice/),
  })
})

describe('conditions and mapping rules that only an older release accepted', () => {
  /** The digits that JavaScript prints for 2^60. An older release stored them. */
  const ROUNDED = 1_152_921_504_606_847_000n
  const set = (key: string, comparison: unknown) => ({
    kind: 'condition_set',
    key,
    name: key,
    type: 'userset',
    conditions: { 'user.n': comparison },
  })
  const config = (url: string) => ({
    kind: 'proxy_config',
    key: 'proxy',
    name: 'Proxy',
    mapping_rules: [{ url, http_method: 'get', resource: 'doc' }],
  })

  test.each([
    ['a rounded integer', set('a', { equals: ROUNDED })],
    ['a rounded integer in a list', set('a', { in: [1, ROUNDED] })],
    ['a rounded integer as a bound', set('a', { between: [ROUNDED, ROUNDED] })],
    ['a rounded integer as a length', set('a', { array_len_less_than: ROUNDED })],
    ['2^53 as a length', set('a', { array_len_less_than: 2n ** 53n })],
    ['a rounded integer in a match', set('a', { any_match: { match: { m: { 'less-than': ROUNDED } } } })],
    ['a user name', config('https://eve@a.org/x')],
    ['an encoded segment of dots', config('https://a.org/%252e%252e/x')],
    ['a single encoded slash', config('https://a.org/%2F/x')],
  ])('are imported and exported unchanged: %s', async (_, line) => {
    const { lines } = await imported(content(line, TENANT))
    const fields = JSON.stringify('conditions' in line ? line.conditions : line.mapping_rules[0]!.url)
    expect(lines[1]).toContain(fields)
    expect((await imported(lines.join(''))).lines).toEqual(lines)
  })

  test.each([
    [set('a', { equalz: ROUNDED }), /line 2: user\.n\.equalz/],
    [config('https://a.org/#x'), /line 2: mapping_rules\[0\]\.url: must not contain a fragment/],
  ])('are still refused if they are invalid otherwise: %j', async (line, message) => {
    await expect(imported(content(line, TENANT))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(message),
    })
  })
})

test('an import line can have as many derivations of a role as an environment, and not more', () => {
  const { check } = new ContentShapes()
  const line = (count: number) => {
    const derivation = { role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }
    const granted_to = { users_with_role: Array.from({ length: count }, () => derivation) }
    return {
      kind: 'resource',
      key: 'doc',
      name: 'Doc',
      actions: {},
      roles: { viewer: { name: 'V', granted_to } },
    }
  }
  for (const count of [PARTS_PER_BODY_MAX + 1, DERIVATIONS_MAX]) {
    expect(() => check('resource', line(count))).not.toThrow()
  }
  expect(() => check('resource', line(DERIVATIONS_MAX + 1))).toThrow(/users_with_role/)
})
