/** The engines that must fulfill the contract of `Engine`. `newEngine` creates an empty one. */
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
  /** Fraction of the random histories of a property test that this engine runs, beginning with the first. */
  readonly share: number
}

export const ENGINES: readonly EngineUnderTest[] = [
  { name: 'the shared index', newEngine: () => new SharedEngine(), share: 1 },
]

/** Share for engines that differ from the index in few places. The first histories cover these places. */
const FIRST = 0.4

/** The shared index with settings that use other parts of its code. The decisions must be the same. */
export const STRAINED_ENGINES: readonly EngineUnderTest[] = [
  {
    name: 'with keys that all collide',
    newEngine: () => new SharedEngine({ secrets: COLLIDING }),
    share: FIRST,
  },
  { name: 'beyond its cap on states', newEngine: () => new SharedEngine({ statesMax: 3 }), share: FIRST },
  // The first tenant role uses the last position in the first line of a tenant, so the second one overflows.
  {
    name: 'with overflow lines',
    newEngine: () => new SharedEngine({ firstTenantRoleIndex: 2_047 }),
    share: FIRST,
  },
  // A large graph, whose cache lines do not begin at the start of its buffer.
  {
    name: 'moved to a buffer with its full address space',
    newEngine: () =>
      new SharedEngine({ largeGraphBytes: 0, graphBytesMax: 1 << 24, closureBytesMax: 1 << 23 }),
    share: FIRST,
  },
  { name: 'locking every read', newEngine: () => new SharedEngine({ lockEveryRead: true }), share: FIRST },
  { name: 'saved and restored after every commit', newEngine: () => new SavingEngine(), share: FIRST },
  // About one history in a hundred detects faults in reused numbers or in closures.
  { name: 'collecting after every commit', newEngine: () => new CollectingEngine(), share: 1 },
  { name: 'with every closure precomputed', newEngine: () => new PrecomputingEngine(1_000_000), share: 1 },
  // With so few steps, a commit often arrives while containers wait for precomputation.
  { name: 'precomputing closures in small steps', newEngine: () => new PrecomputingEngine(40), share: 1 },
]
