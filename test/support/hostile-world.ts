/** The facts for hostile and large requests. */
import { expect } from 'vitest'
import { WORLD } from '#testing/hostile/hostile-requests.ts'
import { loadModel } from '#testing/requests/load-model.ts'
import type { Client } from '#testing/processes/running-service.ts'

export function loadWorld(client: Client): Promise<void> {
  return loadModel(async (method, path, body) => {
    const answer = await client.send(method, path, { body })
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200)
  }, WORLD)
}
