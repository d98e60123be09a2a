/** The service without a server: whoever opens it hears of its defects, which its answers do not tell. */
import { afterAll, describe, expect, test } from 'vitest'
import { InProcessService } from '#composition/in-process-service.ts'

const faults: unknown[] = []
const service = await InProcessService.open(fault => faults.push(fault))

afterAll(() => service.close())

describe('a request that fails', () => {
  test('through a defect is 500, and the defect is reported', async () => {
    // What the types rule out is a defect like any other.
    const { status } = await service.answer('POST', '/allowed', null as unknown as string)
    expect([status, faults.splice(0)]).toEqual([500, [expect.any(TypeError)]])
  })

  test('because it is refused is nothing to report', async () => {
    const refused = await Promise.all([
      service.answer('POST', '/allowed', '{}'),
      service.answer('GET', '/nowhere', ''),
      service.answer('GET', '/v2/facts/default/default/users/nobody', ''),
    ])
    expect([refused.map(({ status }) => status), faults]).toEqual([[400, 404, 404], []])
  })
})
