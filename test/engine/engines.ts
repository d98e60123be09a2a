/** The engines that must fulfil the contract, each made anew and empty. */
import type { Engine } from '#engine/engine.ts'
import {
  COLLIDING,
  CollectingEngine,
  SavingEngine,
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
  { name: 'the shared index', newEngine: () => new SharedEngine(), share: 1 },
]

/** For what differs from the index in few places, which some of the first histories meet. */
const FIRST = 0.4

/** The shared index under conditions in which it takes other ways to the same answers. */
export const STRAINED_ENGINES: readonly EngineUnderTest[] = [
  {
    name: 'with keys that all collide',
    newEngine: () => new SharedEngine({ secrets: COLLIDING }),
    share: FIRST,
  },
  { name: 'beyond its cap on states', newEngine: () => new SharedEngine({ statesMax: 3 }), share: FIRST },
  // The first tenant role has the last index on the tenant's own line.
  {
    name: 'with tenant roles in annexes',
    newEngine: () => new SharedEngine({ firstTenantRoleIndex: 2_047 }),
    share: FIRST,
  },
  // A large graph, whose lines do not begin where its buffer does.
  {
    name: 'moved to where all its address space is',
    newEngine: () =>
      new SharedEngine({ largeGraphBytes: 0, graphBytesMax: 1 << 24, closureBytesMax: 1 << 23 }),
    share: FIRST,
  },
  { name: 'locking every read', newEngine: () => new SharedEngine({ lockEveryRead: true }), share: FIRST },
  { name: 'kept and restored after every commit', newEngine: () => new SavingEngine(), share: FIRST },
  // What is wrong with numbers that are used again, or with closures, one history in a hundred meets.
  { name: 'collecting after every commit', newEngine: () => new CollectingEngine(), share: 1 },
  { name: 'with every closure built ahead', newEngine: () => new PrecomputingEngine(1_000_000), share: 1 },
  // Few enough steps that a commit often comes while containers wait.
  { name: 'building closures ahead bit by bit', newEngine: () => new PrecomputingEngine(40), share: 1 },
]
