/** Decisions that the body thread records for the HTTP thread. */
import { expect, test } from 'vitest'
import { RecordedDecisions } from '../../../src/composition/node/recorded-decisions.ts'
import type { Query } from '#model/decision.ts'
import type { Decided } from '#threads/pool/body-jobs.ts'

const QUERY: Query = { user: 'u', action: 'read', type: 'document', key: 'd', tenant: null }

test('a decision after a yield is recorded for its own request, even if another request has begun by then', () => {
  const recorded = new RecordedDecisions(false)
  const [first, second]: [Decided[], Decided[]] = [[], []]
  recorded.begin(first)
  const later = recorded.later()
  const asked = recorded.asked('env', [QUERY])
  recorded.begin(second)
  later([true], 'env', [QUERY])
  asked([false])
  expect([first.length, second.length]).toEqual([2, 0])
  recorded.decidedAll([true], 'other', [QUERY])
  expect([first.length, second.length]).toEqual([2, 1])
})
