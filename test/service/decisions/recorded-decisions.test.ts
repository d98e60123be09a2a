/** Decisions that the body thread records for the HTTP thread. */
import { expect, test } from 'vitest'
import { RecordedDecisions } from '../../../src/composition/node/recorded-decisions.ts'
import type { Query } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'
import type { Decided } from '#threads/pool/body-jobs.ts'

const QUERY: Query = { user: 'u', action: 'read', type: 'document', key: 'd', tenant: null }

test('decisions are recorded for the request of their client, with the checks only if checks are observed', () => {
  const clients = [0, 1].map(() => ({ requestId: '', decided: [] as Decided[] }))
  for (const [index, client] of clients.entries()) {
    const recorded = new RecordedDecisions(index === 1)
    recorded.decided(Uint8Array.of(1), TextQuestion.single(QUERY), 'env', client)
  }
  const [first, second] = clients.map(({ decided }) => decided)
  expect(first).toEqual([{ verdicts: Uint8Array.of(1), isSingle: true, nonUserCount: 0, checks: null }])
  expect(second).toMatchObject([{ checks: { count: 1 } }])
})
