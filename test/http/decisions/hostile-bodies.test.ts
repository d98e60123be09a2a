/**
 * Hostile bodies from a fixed seed for the decision endpoints: each gets a documented error or a correct
 * response, never a fault, a hang or a lost connection. The bench of the same name sends 100 times as many.
 */
import { expect, test } from 'vitest'
import { HostileCaller, HostileJudge, describe as textOf } from '#testing/hostile/hostile-judge.ts'
import { DECISION_PATHS, HostileRequests } from '#testing/hostile/hostile-requests.ts'
import { loadWorld } from '../../support/hostile-world.ts'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'

const SEED = 20_261_120
const REQUESTS = 2_000
const CALLERS = 4

const verdict = await sharedService()
await loadWorld(verdict)

test('every hostile request gets a documented error or a correct response, and the service stays healthy', async () => {
  const requests = new HostileRequests(SEED)
  const judge = new HostileJudge()
  const seen = new Map<string, number>()
  let sent = 0
  const problems: string[] = []
  const call = async () => {
    const caller = new HostileCaller(verdict.port, API_KEY)
    while (sent < REQUESTS) {
      sent += 1
      const id = `hostile ${sent}`
      const request = requests.next()
      const answer = await caller.send(request, id)
      const problem = judge.problem(request, id, answer)
      if (problem !== null)
        problems.push(`${problem}: ${textOf(request)} → ${JSON.stringify(answer).slice(0, 1_000)}`)
      const outcome = `${request.path} ${answer === 'closed' ? answer : answer.status}`
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
    }
    caller.close()
  }
  await Promise.all(Array.from({ length: CALLERS }, call))

  expect(problems).toEqual([])
  // The requests are not all rejected for the same reason.
  for (const path of DECISION_PATHS) {
    expect(seen.get(`${path} 200`), path).toBeGreaterThan(40)
    expect(seen.get(`${path} 400`), path).toBeGreaterThan(40)
  }
  expect((await verdict.get('/healthy')).status).toBe(200)
})

test('hostile requests from the same seed are equal', () => {
  const [left, right] = [new HostileRequests(7), new HostileRequests(7)]
  for (let round = 0; round < 200; round += 1) expect(left.next()).toEqual(right.next())
})
