/** Short closures are stored inline in their container. Decisions do not depend on the place of a closure. */
import { beforeEach, expect, test } from 'vitest'
import { MemoizedOracle } from '#testing/oracle/memoized-oracle.ts'
import { blockEnd, gatesAt, maskOfEntry } from '#engine/shared-index/closures/closure-block.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { ALLOW, InstanceCheck } from '#engine/shared-index/check/check.ts'
import { ClosureBuilder } from '#engine/shared-index/closures/closure-builder.ts'
import { ForwardWalk } from '#engine/shared-index/search/forward-walk.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { currentView } from '#engine/shared-index/schema/current-schema.ts'
import { find } from '#engine/shared-index/memory/string-table.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { Random } from '#testing/data/random.ts'
import {
  assign,
  derivedRole,
  heldBy,
  heldUnlessDirectBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { SECRETS, SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

/** One role allows each action. A container has inline heads for only three of these four states. */
const ACTIONS = ['see', 'edit', 'share', 'delete'] as const
const DEPTH = 48

const derived = (action: string): Change =>
  role('folder', action, { can: [action], from: [heldBy({ role: action, on: 'folder', over: 'parent' })] })
const guarded = (action: string): Change =>
  derivedRole('folder', action, action, heldUnlessDirectBy({ role: action, on: 'folder', over: 'parent' }))
const parents: readonly Change[] = Array.from({ length: DEPTH - 1 }, (_, n) =>
  link(`folder:f${n}`, 'parent', `folder:f${n + 1}`),
)
const chain: readonly Change[] = [
  tenant('default'),
  resourceType('folder', ...ACTIONS),
  relation('folder', 'parent', 'folder'),
  ...ACTIONS.map(derived),
  ...Array.from({ length: DEPTH }, (_, n) => [instance(`folder:f${n}`), user(`u${n}`)]).flat(),
  ...parents,
]
/** Gives each user a role on one folder. The closure at depth n then has an entry for each user above. */
const everyHolds = (action: string): Change[] =>
  Array.from({ length: DEPTH }, (_, n) => assign(`u${n}`, action, `folder:f${n}`))

let engine: SharedEngine
let world: World
let header: Int32Array

beforeEach(() => {
  engine = new SharedEngine()
  world = new World(engine, ...chain)
  header = new Int32Array(engine.writer.handle.header)
})

const inRegion = (): number => header[L.H_CLOSURE_TOP]! - L.LINE_WORDS

/** Expects that a role above the folder gives access, and a role below does not. Builds the closure. */
function ask(action: string, depth: number): void {
  expect(world.can('u0', action, `folder:f${depth}`)).toBe(true)
  expect(world.can(`u${depth + 1}`, action, `folder:f${depth}`)).toBe(false)
}

test('a closure of up to 40 entries is stored in its container, a longer closure in the region', () => {
  world.apply(...everyHolds('see'))
  // The check uses the closure of the folder above, which has 40 entries.
  ask('see', 40)
  expect(inRegion()).toBe(0)
  ask('see', 41)
  const long = inRegion()
  expect(long).toBeGreaterThan(2 * 41)
  ask('see', 10)
  expect(inRegion()).toBe(long)
})

test('two closures of twenty entries are stored inline, and a third in the region', () => {
  world.apply(...ACTIONS.flatMap(everyHolds))
  ask('see', 20)
  ask('edit', 20)
  expect(inRegion()).toBe(0)
  ask('share', 20)
  const third = inRegion()
  // 20 words for the scopes, one for the mask that they share, and one for the number of its last entry.
  expect(third).toBe(22)
  for (const action of ACTIONS.slice(0, 3)) ask(action, 20)
  expect(inRegion()).toBe(third)
})

test('the inline space of invalid closures is reused repeatedly, without using the region', () => {
  world.apply(...ACTIONS.flatMap(everyHolds))
  for (let round = 0; round < 200; round++) {
    const actions = round % 2 === 0 ? ['see', 'edit'] : ['share', 'see']
    for (const action of actions) ask(action, 20)
    world.apply(removed(parents[0]!))
    for (const action of actions) expect(world.can('u0', action, 'folder:f20')).toBe(false)
    world.apply(parents[0]!)
  }
  expect(engine.writer.figures().closuresBuilt).toBeGreaterThanOrEqual(800)
  expect(inRegion()).toBe(0)
})

test('inline space of an invalidated closure is reused while other closures stay valid', () => {
  world.apply(...['see', 'edit', 'share'].flatMap(everyHolds))
  ask('see', 20)
  ask('edit', 20)
  const { closuresBuilt } = engine.writer.figures()
  // This invalidates only closures of the changed role. The guard makes its new closures short, with gates.
  world.apply(guarded('edit'))
  ask('see', 20)
  expect(engine.writer.figures().closuresBuilt).toBe(closuresBuilt)
  expect(world.can('u19', 'edit', 'folder:f20')).toBe(true)
  expect(world.can('u21', 'edit', 'folder:f20')).toBe(false)
  world.apply(derived('edit'))
  const builtBefore = engine.writer.figures().closuresBuilt
  ask('share', 20)
  expect(inRegion()).toBe(0)
  ask('edit', 20)
  expect(inRegion()).toBe(22)
  for (const action of ['see', 'share']) ask(action, 20)
  expect(engine.writer.figures().closuresBuilt).toBe(builtBefore + 2)
})

test('the entries of each type in a closure have the mask of that type, although adjacent entries share a mask', () => {
  const names = Array.from({ length: 9 }, (_, n) => n)
  world.apply(
    resourceType('group'),
    relation('folder', 'shared', 'group'),
    // The member role of groups has the same index as another role of folders.
    role('group', 'guest'),
    role('group', 'member'),
    role('folder', 'see', {
      can: ['see'],
      from: [
        heldBy({ role: 'see', on: 'folder', over: 'parent' }),
        heldBy({ role: 'member', on: 'group', over: 'shared' }),
      ],
    }),
    ...names.flatMap(n => [
      instance(`group:g${n}`),
      link(`group:g${n}`, 'shared', `folder:f${n}`),
      user(`member${n}`),
      user(`guest${n}`),
      assign(`member${n}`, 'member', `group:g${n}`),
      assign(`guest${n}`, 'guest', `group:g${n}`),
      assign(`guest${n}`, 'edit', `folder:f${n}`),
      assign(`u${n}`, 'see', `folder:f${n}`),
    ]),
  )
  const queries = ['u', 'member', 'guest'].flatMap(kind =>
    names.map(n => ({ user: `${kind}${n}`, action: 'see', type: 'folder', key: 'f20', tenant: null })),
  )
  const wanted = queries.map(query => !query.user.startsWith('guest'))
  for (let times = 0; times < 2; times++) {
    expect(queries.map(query => engine.evaluate(query))).toEqual(wanted)
    expect(evaluateAll(engine, queries)).toEqual(wanted)
  }
  expect(inRegion()).toBe(0)
})

test('the mask of an entry and the gates after the masks are found for any number of masks', () => {
  const random = new Random(3)
  const [block, gates] = [5, 3]
  for (let entries = 1; entries <= L.CLOSURE_LIST_MAX; entries++) {
    for (let times = 0; times < 20; times++) {
      const cuts = Array.from({ length: random.below(entries) }, () => 1 + random.below(entries))
      const ends = [...new Set([...cuts, entries])].toSorted((a, b) => a - b)
      const words = new Int32Array(200).fill(-1)
      for (const [run, end] of ends.entries()) words.set([end, 100 + run], block + entries + 2 * run)
      const behind = block + entries + 2 * ends.length
      words[behind] = gates
      for (let entry = 0; entry < entries; entry++) {
        const mask = 100 + ends.findIndex(end => entry < end)
        expect(maskOfEntry(words, block, entries, entry)).toBe(mask)
      }
      expect(gatesAt(words, block, entries)).toBe(behind)
      expect(blockEnd(words, block, (entries << 1) | 1)).toBe(behind + 1 + 2 * gates)
    }
  }
})

test('a check that reads a torn closure head does not scan the graph', () => {
  world.apply(...everyHolds('see'))
  ask('see', 10)
  const regions = Regions.attach(engine.writer.handle)
  const { graph } = regions
  const schema = currentView(regions)
  let reads = 0
  regions.graph = new Proxy(graph, {
    get: (_, word) => {
      reads++
      return word === 'length' ? graph.length : graph[Number(word)]
    },
  })
  const parts = {
    schema,
    builder: new ClosureBuilder(regions, schema),
    walk: new ForwardWalk(regions, schema),
  }
  const check = new InstanceCheck(regions, parts)
  const key = new Key(SECRETS.start, SECRETS.multiplier)
  const lineOf = (text: string, type: number): number => (key.read(text, type) ? find(regions, key, type) : 0)
  const type = schema.types.get('folder')!
  const isAllowed = (name: string): boolean => {
    const [line, at] = [lineOf(name, L.USER_TYPE), lineOf('f10', type.id)]
    reads = 0
    return check.run(line, at, type.actions.get('see')!.start, false) === ALLOW
  }
  expect(isAllowed('u0')).toBe(true)
  const head = graph.findIndex((word, at) => word === -L.C_INLINE_CLOSURES && graph[at + 1]! >>> 1 === 10)
  expect(head).toBeGreaterThan(0)
  const most = Math.floor(graph.length * 0.6)
  const gates = gatesAt(graph, head - L.C_HEADS + L.C_INLINE_CLOSURES, 10)
  for (const entries of [10, 41, 49, 1_000, graph.length / 4, most, graph.length - 1]) {
    for (const place of [-L.C_INLINE_CLOSURES, -(L.C_INLINE_END - 1), -graph.length, L.LINE_WORDS]) {
      graph[head] = place
      graph[head + 1] = (entries << 1) | 1
      graph[gates] = graph.length / 4
      expect(isAllowed('u11')).toBe(false)
      expect(reads).toBeLessThan(500)
    }
  }
})

test('decisions on trees that change constantly equal those of the oracle, one by one and in batches', () => {
  const [folders, users] = [36, 12]
  const judge = new MemoizedOracle()
  const random = new Random(7)
  const apply = (...changes: Change[]): void => {
    judge.apply(changes)
    engine.apply(changes)
  }
  engine = new SharedEngine()
  apply(...chain)
  const below = (n: number): number => Math.max(0, n - 1 - random.below(2))
  const edges = new Map(
    Array.from({ length: folders - 1 }, (_, n) => [
      n + 1,
      link(`folder:f${below(n + 1)}`, 'parent', `folder:f${n + 1}`),
    ]),
  )
  apply(...parents.map(removed), ...edges.values())
  const assignments: Change[] = []
  const change = (): Change[] => {
    const at = 1 + random.below(folders - 1)
    const action = ACTIONS[random.below(ACTIONS.length)]!
    switch (random.below(8)) {
      case 0: {
        const old = edges.get(at)!
        edges.set(at, link(`folder:f${below(at)}`, 'parent', `folder:f${at}`))
        return [removed(old), edges.get(at)!]
      }
      case 1:
        return [random.below(2) === 0 ? guarded(action) : derived(action)]
      case 2:
        return assignments.splice(random.below(assignments.length + 1), 3).map(removed)
      default: {
        const more = Array.from({ length: 4 }, () =>
          assign(`u${random.below(users)}`, ACTIONS[random.below(4)]!, `folder:f${random.below(folders)}`),
        )
        assignments.push(...more)
        return more
      }
    }
  }
  const allowed = new Set<boolean>()
  for (let round = 0; round < 120; round++) {
    apply(...change())
    const queries = Array.from({ length: 40 }, (): Query => {
      const key = `f${random.below(folders)}`
      const action = ACTIONS[random.below(ACTIONS.length)]!
      return { user: `u${random.below(users)}`, action, type: 'folder', key, tenant: null }
    })
    const wanted = queries.map(query => judge.evaluate(query))
    for (const answer of wanted) allowed.add(answer)
    expect(
      round % 2 === 0 ? evaluateAll(engine, queries) : queries.map(query => engine.evaluate(query)),
    ).toEqual(wanted)
  }
  expect(allowed.size).toBe(2)
  expect(engine.writer.figures().closuresBuilt).toBeGreaterThan(600)
})
