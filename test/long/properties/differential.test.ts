/** The short form of `bench/engine/differential.ts`: the same histories every time, some of each kind. */
import { expect, test } from 'vitest'
import { Differential } from '#testing/oracle/differential.ts'

/** What the questions meet at the least; about half of what they do meet. */
const MET = {
  'instance on a cycle of tuples': 6_000,
  'type with guarded derivations': 10_000,
  'type with more than 32 roles': 2_000,
  'allowed a commit ago, denied now': 300,
  'allowed, denied, and allowed again': 80,
  'something removed and put again in one commit': 200,
  'key of 1 byte': 3_000,
  'key of 512 bytes': 2_000,
  'key that is not ASCII': 15_000,
  'colliding keys': 4_000,
  'edges into an instance: 65535': 40,
  'edges into an instance: 65536': 40,
  'edges out of an instance: 65535': 40,
  'edges out of an instance: 65536': 40,
  'users with roles on an instance: 65535': 40,
  'users with roles on an instance: 65536': 40,
  'roles of a user: 65535': 40,
  'roles of a user: 65536': 40,
}

test('single checks, batches and explanations say what the oracle says, whatever the models have in them', () => {
  const differential = new Differential()
  differential.run({ seed: 20_260_101, usual: 12, manyRoles: 2, keys: 3, padded: 1 })
  for (const [what, least] of Object.entries(MET)) {
    expect(differential.met.get(what) ?? 0, what).toBeGreaterThanOrEqual(least)
  }
  expect(differential.checks).toBeGreaterThanOrEqual(25_000)
  expect(differential.coverage.decidedBy.guard).toBeGreaterThan(150)
  expect(differential.coverage.decidedBy.derivation).toBeGreaterThan(500)
  expect(differential.coverage.decidedBy.extension).toBeGreaterThan(200)
})
