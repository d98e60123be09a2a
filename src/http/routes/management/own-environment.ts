/**
 * Calls without a project and environment in their path. They are handled as if the path contained those of
 * the client's key.
 */
import type { Call } from '#http/message/request-reply.ts'
import { assert } from '#model/assert.ts'

/**
 * Converts such a call to a call of a route under `{proj_id}/{env_id}`. The route that received the call must
 * require environment keys.
 */
export function inOwnEnvironment(call: Call): Call {
  const { principal, params } = call
  assert(principal?.kind === 'environment', 'the key is that of an environment')
  const place = { proj_id: principal.projectId, env_id: principal.environmentId }
  return { ...call, params: { ...(params as object), ...place } }
}
