/**
 * Facts under `/facts`, as in a decision point (conditions.md 10.8). For each route of
 * `/v2/facts/{proj_id}/{env_id}`, there is a route that takes the project and environment from the API key.
 * These routes are derived from the originals, so the two sets of routes cannot diverge.
 */
import { type TObject, Type } from 'typebox'
import type { Route } from '#http/routing/route.ts'
import { Shape } from '#http/routing/shape.ts'
import { assert } from '#model/assert.ts'
import { environmentPath } from '#model/wire/references.ts'
import { FACTS_BASE } from './managed.ts'
import { inOwnEnvironment } from './own-environment.ts'

const MOUNT = '/facts'
const PLACE = Object.keys(environmentPath)

/** Derives the routes under `/facts` from the given fact routes. They require environment keys. */
export function factsMount(routes: readonly Route[]): Route[] {
  return routes.map(route => {
    assert(route.path.startsWith(`${FACTS_BASE}/`), `${route.operationId} is about facts`)
    return {
      ...route,
      path: MOUNT + route.path.slice(FACTS_BASE.length),
      standsFor: route.path,
      access: 'environment',
      paramNames: route.paramNames.filter(name => !PLACE.includes(name)),
      params: withoutPlace(route.params),
      handle: call => route.handle(inOwnEnvironment(call)),
    }
  })
}

function withoutPlace(params: Shape | null): Shape | null {
  if (params === null) return null
  return new Shape(Type.Omit(params.schema as TObject, PLACE), 'path')
}
