/** The closure region is reset when it is full or most of its closures are invalid. */
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Change } from '#model/change.ts'
import { assign, FOLDERS, instance, link, removed, user } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'

const KIB = 1 << 10
const CHAINS = 60
const DEPTH = 60

/** Chains of folders with a user on each folder. Closures at the bottom are too long for inline storage. */
function chains(): Change[] {
  return Array.from({ length: CHAINS }, (_, c) => chainOf(c)).flat()
}

function chainOf(c: number): Change[] {
  const changes: Change[] = []
  for (let d = 0; d < DEPTH; d++) {
    const folder = `folder:${c}-${d}`
    changes.push(instance(folder), user(`u${c}-${d}`), assign(`u${c}-${d}`, 'viewer', folder))
    if (d > 0) changes.push(link(`folder:${c}-${d - 1}`, 'parent', folder))
  }
  return changes
}

function worldWith(closureBytesMax: number): { world: World; header: Int32Array; engine: SharedEngine } {
  const engine = new SharedEngine({ closureBytesMax })
  const world = new World(engine, ...FOLDERS, ...chains())
  return { world, engine, header: new Int32Array(engine.writer.handle.header) }
}

/** A user with a role at the top of a chain can open its bottom. The user of the next chain cannot. */
function expectRight(world: World, chain: number): void {
  const bottom = `folder:${chain}-${DEPTH - 1}`
  expect(world.can(`u${chain}-0`, 'open', bottom)).toBe(true)
  expect(world.can(`u${(chain + 1) % CHAINS}-0`, 'open', bottom)).toBe(false)
}

test('the closure region is reset whenever it is full of valid closures', () => {
  const { world, header, engine } = worldWith(32 * KIB)
  for (let round = 0; round < 3; round++) {
    for (let chain = 0; chain < CHAINS; chain++) {
      expectRight(world, chain)
      // This check needs closures that were built before the reset.
      expectRight(world, chain >> 1)
    }
  }
  expect(header[L.H_CLOSURE_ERA]).toBeGreaterThan(3)
  expect(engine.writer.bytes().closures).toBeLessThanOrEqual(32 * KIB)
})

test('the closure region is reset instead of growing when most of its closures are invalid', () => {
  const { world, header, engine } = worldWith(64 * KIB * KIB)
  const cut = link('folder:0-0', 'parent', 'folder:0-1')
  let grown = 0
  for (let round = 0; round < 3_000; round++) {
    world.apply(removed(cut))
    expect(world.can('u0-0', 'open', `folder:0-${DEPTH - 1}`)).toBe(false)
    world.apply(cut)
    expectRight(world, 0)
    if (round === 1_000) grown = engine.writer.bytes().closures
  }
  expect(header[L.H_CLOSURE_ERA]).toBeGreaterThan(1)
  expect(engine.writer.bytes().closures).toBe(grown)
  expectRight(world, 1)
})

/** Precomputes until nothing is left or `stepsMax` is reached. Returns the number of steps. */
function buildAhead({ writer }: SharedEngine, stepsMax = 10_000): number {
  let steps = 1
  while (steps < stepsMax && writer.precompute(100)) steps += 1
  return steps
}

test('all closures are precomputed again after a reset of the closure region', () => {
  const { world, header, engine } = worldWith(64 * KIB * KIB)
  buildAhead(engine)
  const [era, cut] = [header[L.H_CLOSURE_ERA]!, link('folder:0-0', 'parent', 'folder:0-1')]
  for (let isCut = false; header[L.H_CLOSURE_ERA] === era; isCut = !isCut) {
    world.apply(isCut ? cut : removed(cut))
    world.can('u0-1', 'open', `folder:0-${DEPTH - 1}`)
  }
  world.apply(cut)
  expect(buildAhead(engine)).toBeGreaterThan(1)
  const { closuresBuilt } = engine.writer.figures()
  for (let chain = 0; chain < CHAINS; chain++) expectRight(world, chain)
  expect(engine.writer.figures().closuresBuilt).toBe(closuresBuilt)
})

test('if not all closures fit into the region, precomputation ends, and checks build the closures that they need', () => {
  const { world, header, engine } = worldWith(32 * KIB)
  const steps = buildAhead(engine)
  expect(steps).toBeLessThan(10_000)
  const era = header[L.H_CLOSURE_ERA]!
  for (let chain = 0; chain < CHAINS; chain++) expectRight(world, chain)
  expect(header[L.H_CLOSURE_ERA]).toBeGreaterThan(era)
  expect(engine.writer.precompute(100)).toBe(false)
})

test('the closure region grows if hardly any of its closures are invalid, so that precomputation ends', () => {
  const { world, header, engine } = worldWith(64 * KIB * KIB)
  const cut = link('folder:0-0', 'parent', 'folder:0-1')
  const startOver = (): void => {
    const era = header[L.H_CLOSURE_ERA]
    for (let isCut = false; header[L.H_CLOSURE_ERA] === era || isCut; isCut = !isCut) {
      world.apply(isCut ? cut : removed(cut))
      world.can('u0-1', 'open', `folder:0-${DEPTH - 1}`)
    }
    buildAhead(engine)
  }
  const grow = (from: number, to: number): void => {
    for (let more = from; more < to; more++) {
      world.apply(...chainOf(more))
      for (let d = 0; d < DEPTH; d++) world.can(`u${more}-0`, 'open', `folder:${more}-${d}`)
    }
  }
  buildAhead(engine)
  startOver()
  const { closures } = engine.writer.bytes()
  grow(CHAINS, 124)
  startOver()
  grow(124, 136)
  expect(buildAhead(engine)).toBeLessThan(10_000)
  expect(engine.writer.bytes().closures).toBeGreaterThan(closures)
})
