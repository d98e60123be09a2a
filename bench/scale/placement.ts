/** Tenants of unlike sizes, put into indexes, and indexes put on nodes. */
import { Random } from '#testing/data/random.ts'
import type { Piece } from './fleet.ts'

export interface Tenants {
  /** Facts of each, the largest first. */
  readonly facts: readonly number[]
  /** Of all checks, those about each. */
  readonly shares: readonly number[]
}

/**
 * Sizes by Zipf: the nth tenant has 1 / n^exponent of what the first has. Checks are as the facts are. A giant, if there is one, has that
 * share of all of both, and stands first.
 */
export function zipfTenants(options: {
  readonly count: number
  readonly facts: number
  readonly exponent: number
  readonly giantShare?: number
  /** Of all checks, those about a tenant in the middle of the list, whatever its size. */
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

/** Tenants that have an index together. */
export interface Shard {
  readonly facts: number
  readonly share: number
}

/** By a hash of the tenant's key: nobody has to be asked where a tenant is. */
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

/** By a table: each into the emptiest, the largest first. */
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
  /** Facts that each node holds. */
  readonly facts: readonly number[]
}

export interface PlaceOptions {
  readonly nodes: number
  readonly copies: number
  /** A shard with more of all checks for each of its copies gets further ones. */
  readonly shareMax?: number
  /** The second copies of what a node has lie on all other nodes; else nodes come in pairs. */
  readonly isSpread?: boolean
}

/** Copies of each shard, the busiest first, on the nodes that have the fewest checks and facts. */
export function place(shards: readonly Shard[], options: PlaceOptions): Placed {
  const { nodes, copies, shareMax = Infinity, isSpread = true } = options
  const load = Array.from({ length: nodes }, () => 0)
  const facts = Array.from({ length: nodes }, () => 0)
  /** Checks that two nodes share. */
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
