/** The engines that are held to the contract, each made anew and empty. */
import type { Engine } from '#engine/engine.ts'
import { MapEngine } from '#testing/reference-engine/map-engine.ts'
import {
  COLLIDING,
  CollectingEngine,
  KeptEngine,
  PrecomputingEngine,
  SharedEngine,
} from '#testing/engines/shared-engine.ts'

export interface EngineUnderTest {
  readonly name: string
  readonly newEngine: () => Engine
  /** Of the random histories of a property, those it is held to: all, or the first of them. */
  readonly share: number
}

export const ENGINES: readonly EngineUnderTest[] = [
  { name: 'the Map engine', newEngine: () => new MapEngine(), share: 1 },
  { name: 'the shared index', newEngine: () => new SharedEngine(), share: 1 },
]

const STRAINED_SHARE = 0.4

/** The shared index where it takes other ways to the same answers. All that they have of their own is met in a few histories. */
export const STRAINED_ENGINES: readonly EngineUnderTest[] = [
  { name: 'with keys that all collide', newEngine: () => new SharedEngine({ secrets: COLLIDING }) },
  { name: 'beyond its cap on states', newEngine: () => new SharedEngine({ statesMax: 3 }) },
  // The first is the last that the tenant's own line has room for.
  { name: 'with tenant roles in annexes', newEngine: () => new SharedEngine({ firstTenantPlace: 2_047 }) },
  // Its lines do not begin where its buffers do.
  {
    name: 'moved to where all its address space is',
    newEngine: () =>
      new SharedEngine({ largeGraphBytes: 0, graphBytesMax: 1 << 24, closureBytesMax: 1 << 23 }),
  },
  { name: 'locking every read', newEngine: () => new SharedEngine({ lockEveryRead: true }) },
  { name: 'collecting after every commit', newEngine: () => new CollectingEngine() },
  { name: 'kept and restored after every commit', newEngine: () => new KeptEngine() },
  { name: 'with every closure built ahead', newEngine: () => new PrecomputingEngine(1_000_000) },
  // Often a commit comes while containers wait to be looked at.
  { name: 'building closures ahead bit by bit', newEngine: () => new PrecomputingEngine(40) },
].map(engine => ({ ...engine, share: STRAINED_SHARE }))
