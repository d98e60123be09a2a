/** The facts for hostile and large requests. */
import { WORLD } from '#testing/hostile/hostile-requests.ts'
import { loadModel } from '#testing/requests/load-model.ts'
import type { Client } from '#testing/processes/running-service.ts'

export function loadWorld(client: Client): Promise<void> {
  return loadModel((method, path, body) => client.done(method, path, body), WORLD)
}
