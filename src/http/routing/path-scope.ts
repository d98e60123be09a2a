/** The project and the environment that the path of a request names. */
import { decodePathPart } from './path.ts'
import type { PathScope } from './route-access.ts'
import type { RouteMatch } from './router.ts'

export function scopeInPath(match: RouteMatch): PathScope {
  return { project: nameIn(match, 'proj_id'), environment: nameIn(match, 'env_id') }
}

/**
 * Decodes a path parameter before it is validated. Returns null if the path has no such parameter, and
 * `undefined` if the parameter cannot be decoded.
 */
function nameIn({ route, rawParams }: RouteMatch, name: string): string | null | undefined {
  const index = route.paramNames.indexOf(name)
  if (index < 0) return null
  try {
    return decodePathPart(rawParams[index]!, name)
  } catch {
    return undefined
  }
}
