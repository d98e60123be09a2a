/** Calls on the environment of the caller's key, made as if the path had named it. */
import type { Call } from '#http/message/request-reply.ts'
import { assert } from '#model/assert.ts'

/** The call of a route under `{proj_id}/{env_id}`. The route of the given call takes keys of environments only. */
export function inOwnEnvironment(call: Call): Call {
  const { principal, params } = call
  assert(principal?.kind === 'environment', 'the key is that of an environment')
  const place = { proj_id: principal.projectId, env_id: principal.environmentId }
  return { ...call, params: { ...(params as object), ...place } }
}
