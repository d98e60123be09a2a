/**
 * The order of the files: what takes longest begins first, so that no core is left with it at the end. Of a run before, vitest knows
 * how long each file took; a fresh clone knows only their sizes, which say little of those that start processes.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'properties/engine-oracle',
  'properties/searches-oracle',
  'properties/rules-oracle',
  'system/process',
  'system/closed-environment',
  'system/process-end',
  'store/redis-following.redis',
  'system/readme',
  'service/staleness.redis',
  'store/redis-refusals.redis',
  'system/hostile-neighbours',
  'system/damaged-copy.redis',
  'service/without-redis.redis',
  'system/environment-crash',
  'system/index-limits',
  'store/redis-faults.redis',
].map(path => `/test/${path}.test.ts`)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- vitest's own, which leaves the files as they are
    const sorted = await super.sort(files)
    return sorted.toSorted((left, right) => placeOf(left) - placeOf(right))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex(path => moduleId.endsWith(path))
  return place < 0 ? LONGEST.length : place
}
