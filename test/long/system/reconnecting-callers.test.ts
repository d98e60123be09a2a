/** Callers that open a new connection for each request while the service shuts down. */
import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { API_KEY, question } from '#testing/processes/running-service.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

const CALLERS = 8
const ROUNDS = 5
const BODY = JSON.stringify(question('alice', 'read', 'document'))
/** Error code if no process listens on the port. */
const GONE = 'ECONNREFUSED'

/** Makes a check on a new connection. Returns the status, or the code of the error. */
async function askOnNewConnection(address: string): Promise<number | string> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-length': Buffer.byteLength(BODY) }
  const asking = request(`${address}/allowed`, { method: 'POST', agent: false, headers })
  asking.end(BODY)
  try {
    const [answer] = (await once(asking, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
    await once(answer.resume(), 'end')
    return answer.statusCode
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
  'a shutdown serves every connection that was established (round %i)',
  async round => {
    const threads = String(1 + (round % 2))
    const service = startedProcess({ HTTP_THREADS: threads, STORE_URL: 'memory:', STOP_DELAY_MS: '50' })
    const address = await service.address()
    const underLoad = Promise.withResolvers<void>()
    let answered = 0
    const instead: (number | string)[] = []
    const callers = Array.from({ length: CALLERS }, async () => {
      for (;;) {
        const outcome = await askOnNewConnection(address)
        if (outcome !== 200) return instead.push(outcome)
        answered += 1
        if (answered === 200) underLoad.resolve()
      }
    })
    await underLoad.promise
    expect(await service.end('SIGTERM')).toBe(0)
    await Promise.all(callers)
    expect(instead).toEqual(Array.from({ length: CALLERS }, () => GONE))
  },
)
