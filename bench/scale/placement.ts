/** Assigns tenants of different sizes to indexes, and indexes to nodes. */
import { Random } from '#testing/data/random.ts'
import type { Piece } from './fleet.ts'

export interface Tenants {
  /** Number of facts of each tenant, beginning with the largest. */
  readonly facts: readonly number[]
  /** Share of each tenant in all checks. */
  readonly shares: readonly number[]
}

/**
 * Sizes of tenants according to Zipf's law: the nth tenant has 1 / n^exponent of the facts of the first one.
 * The number of checks of a tenant is proportional to its facts. Optionally, there is a giant tenant, which
 * is first and has the given share of both the facts and the checks.
 */
export function zipfTenants(options: {
  readonly count: number
  readonly facts: number
  readonly exponent: number
  readonly giantShare?: number
  /** Share of all checks that a tenant in the middle of the list gets, regardless of its size. */
  readonly hotShare?: number
}): Tenants {
  const { count, facts, exponent, giantShare = 0, hotShare = 0 } = options
  const weights = Array.from({ length: count }, (_, nth) => (nth + 1) ** -exponent)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const shares = weights.map(weight => (weight / sum) * (1 - giantShare))
  if (giantShare > 0) shares.unshift(giantShare)
  const sizes = shares.map(share => Math.round(share * facts))
  if (hotShare === 0) return { facts: sizes, shares }
  const hot = count >> 1
  return {
    facts: sizes,
    shares: shares.map((share, nth) => (nth === hot ? hotShare : share * (1 - hotShare))),
  }
}

/** Tenants that share an index. */
export interface Shard {
  readonly facts: number
  readonly share: number
}

/** Assigns each tenant by a hash of its key. No directory is needed. */
export function byHash({ facts, shares }: Tenants, count: number, seed = 1): Shard[] {
  const random = new Random(seed)
  const shards = Array.from({ length: count }, () => ({ facts: 0, share: 0 }))
  facts.forEach((of, nth) => {
    const shard = shards[random.below(count)]!
    shard.facts += of
    shard.share += shares[nth]!
  })
  return shards
}

/**
 * Assigns each tenant by a table. Tenants are assigned in descending order of size, each to the shard with
 * the fewest facts.
 */
export function byTable({ facts, shares }: Tenants, count: number): Shard[] {
  const shards = Array.from({ length: count }, () => ({ facts: 0, share: 0 }))
  facts.forEach((of, nth) => {
    const shard = shards.reduce((least, each) => (each.facts < least.facts ? each : least))
    shard.facts += of
    shard.share += shares[nth]!
  })
  return shards
}

export interface Placed {
  readonly pieces: readonly Piece[]
  /** Number of facts of each node. */
  readonly facts: readonly number[]
}

export interface PlaceOptions {
  readonly nodes: number
  readonly copies: number
  /** Maximum share of all checks per copy. If the share of a shard is higher, it gets further copies. */
  readonly shareMax?: number
  /**
   * How the second copies of the shards of a node are placed. True: they are distributed over all other
   * nodes. False: nodes form pairs with the same shards.
   */
  readonly isSpread?: boolean
}

/**
 * Places the copies of each shard, beginning with the shard with the most checks. A copy is placed on the
 * node with the fewest checks and facts.
 */
export function place(shards: readonly Shard[], options: PlaceOptions): Placed {
  const { nodes, copies, shareMax = Infinity, isSpread = true } = options
  const load = Array.from({ length: nodes }, () => 0)
  const facts = Array.from({ length: nodes }, () => 0)
  /** Share of the checks on the shards that two nodes have in common. */
  const shared = load.map(() => Array.from({ length: nodes }, () => 0))
  const mean = (copies * shards.reduce((sum, shard) => sum + shard.facts, 0)) / nodes
  const pieces = shards
    .toSorted((a, b) => b.share - a.share)
    .map(({ share, facts: more }) => {
      const wanted = Math.min(nodes, Math.max(copies, Math.ceil(share / shareMax)))
      const chosen: number[] = []
      while (chosen.length < wanted) {
        const worth = (node: number): number => {
          const together = chosen.reduce((sum, other) => sum + shared[node]![other]!, 0)
          return load[node]! + facts[node]! / mean / nodes + (isSpread ? together * nodes : 0)
        }
        const left = load.map((_, node) => node).filter(node => !chosen.includes(node))
        chosen.push(left.reduce((least, node) => (worth(node) < worth(least) ? node : least)))
      }
      for (const node of chosen) {
        load[node]! += share / wanted
        facts[node]! += more
        for (const other of chosen) shared[node]![other]! += share / wanted
      }
      return { share, nodes: chosen }
    })
  return { pieces, facts }
}
