/** Calls about the environment of the client's key, as if the path contained it. */
import type { Call } from '#http/message/request-reply.ts'
import { assert } from '#model/assert.ts'

/**
 * Converts a call to that of a route under `{proj_id}/{env_id}`. The route of the given call must require
 * environment keys.
 */
export function inOwnEnvironment(call: Call): Call {
  const { principal, params } = call
  assert(principal?.kind === 'environment', 'the key is that of an environment')
  const place = { proj_id: principal.projectId, env_id: principal.environmentId }
  return { ...call, params: { ...(params as object), ...place } }
}
