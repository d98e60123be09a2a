/** Connection resets do not affect other clients. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { API_KEY, FACTS, question, sharedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()

const RESETTERS = 12
const ROUNDS = 100 * Number(process.env['VERDICT_RUNS'] ?? 1)
/** A bulk whose response is larger than one write of the library. */
const bulk = JSON.stringify(Array(1_500).fill(question('alice', 'read', 'document')))
const request = requestText(
  'POST /allowed/bulk',
  [`Authorization: Bearer ${API_KEY}`, `Content-Length: ${bulk.length}`],
  bulk,
)

test('other clients get their responses while clients reset connections before long responses', async () => {
  const others = { areAnswered: false }
  const made = { resets: 0 }
  const reset = async (): Promise<void> => {
    while (!others.areAnswered) {
      const connection = await RawConnection.open(verdict.port)
      await connection.send(request)
      // The critical time is between reading the request and writing its response.
      for (let turns = made.resets++ % 60; turns > 0; turns--) await turn()
      connection.reset()
    }
  }
  const resetting = Promise.all(Array.from({ length: RESETTERS }, reset))
  try {
    // Continues until there are more resets than rounds, even on a busy machine.
    for (let round = 0; round < ROUNDS || made.resets <= ROUNDS; round++) {
      expect((await verdict.post(`${FACTS}/users`, { key: `user-${round}` })).status).toBe(200)
    }
  } finally {
    others.areAnswered = true
    await resetting
  }
})
