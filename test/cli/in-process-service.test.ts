/** The service without a server reports internal errors to its process. */
import { afterAll, describe, expect, test } from 'vitest'
import { InProcessService } from '#composition/wiring/in-process-service.ts'

const faults: unknown[] = []
const service = await InProcessService.open(fault => faults.push(fault))

afterAll(() => service.close())

describe('a request that fails', () => {
  test('with an internal error receives 500, and the error is reported', async () => {
    // A call that the types exclude causes an internal error.
    const { status } = await service.answer('POST', '/allowed', null as unknown as string)
    expect([status, faults.splice(0)]).toEqual([500, [expect.any(TypeError)]])
  })

  test('with an error of the caller causes no report', async () => {
    const refused = await Promise.all([
      service.answer('POST', '/allowed', '{}'),
      service.answer('GET', '/nowhere', ''),
      service.answer('GET', '/v2/facts/default/default/users/nobody', ''),
    ])
    expect([refused.map(({ status }) => status), faults]).toEqual([[400, 404, 404], []])
  })
})
