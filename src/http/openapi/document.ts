/**
 * OpenAPI 3.1 document of a route table. All of it is derived from the routes and from the schemas that
 * validate requests, so it describes only what is enforced or returned. New routes are included automatically
 * unless they opt out.
 */
import type { Route } from '#http/routing/route.ts'
import type { Resumable } from '#model/resumable.ts'
import { VERSION } from '#model/version.ts'
import { HeaderComponents } from './answer-headers.ts'
import { type Components, operationOf } from './operation.ts'
import { ParameterComponents } from './parameters.ts'
import { RefusalComponents } from './refusals.ts'
import { type Json, SchemaComponents } from './schema-components.ts'
import { schemaNames } from './schema-names.ts'
import { tagOf, tagsAmong } from './tags.ts'

const DESCRIPTION = `Verdict answers "may this user do this on that resource?" from the roles, groups and relations it keeps.

A decision is a value: a denial is answered with 200. Fields that are not named here are ignored in requests, and null
counts as absent where a field is optional. A change is in force when its answer leaves.

Errors have one form in each family of paths: text under \`/access/v1\` and for the AuthZEN metadata, the management error
under \`/v1\`, \`/v2\` and \`/facts\`, \`{code, message}\` everywhere else. A path that is not described here is 404 in that form.
What is no HTTP is answered 400 in HTML. Texts are Unicode: half of a surrogate pair is refused anywhere.

An operation with \`x-also-at\` has a second path, which takes keys of environments only: what the first path names of project and
environment, the key says there.`

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description })

const SECURITY_SCHEMES = {
  environmentKey: bearer('The API key of an environment: decides and manages there.'),
  projectKey: bearer('The API key of a project: manages it, its environments and their keys, never decides.'),
  organizationKey: bearer('An API key of the organization: manages everything, never decides.'),
}

/** Settings that appear in the description. */
export interface DescribedSettings {
  /** Public base URL of the service. Null: clients use the host from which they loaded this document. */
  readonly publicUrl: string | null
  readonly hasStrictHeaders: boolean
}

/**
 * Creates the document. Yields after each route, which takes less than a millisecond: creating all of it at
 * once would delay decisions for too long.
 */
export function* createDocument(
  table: readonly Route[],
  { publicUrl, hasStrictHeaders }: DescribedSettings,
): Resumable<Json> {
  const routes = table.filter(({ isDescribed }) => isDescribed)
  const schemas = new SchemaComponents(schemaNames())
  const headers = new HeaderComponents(schemas)
  const components: Components = {
    schemas,
    headers,
    parameters: new ParameterComponents(schemas, hasStrictHeaders),
    refusals: new RefusalComponents(schemas, headers),
  }
  const described = routes.filter(({ standsFor }) => standsFor === null)
  const otherPaths = new Map(
    routes.flatMap(({ path, standsFor }) => (standsFor === null ? [] : [[standsFor, path]])),
  )
  const paths = yield* pathsOf(described, otherPaths, components)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Verdict',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: tagsAmong(new Set(described.map(({ path }) => tagOf(path)))),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: components.parameters.all(),
      responses: components.refusals.all(),
      headers: headers.all(),
      schemas: schemas.all(),
    },
  }
}

/** `otherPaths`: alternative path by the path that it stands for. */
function* pathsOf(
  routes: readonly Route[],
  otherPaths: ReadonlyMap<string, string>,
  components: Components,
): Resumable<Json> {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const { path, method } = route
    const alsoAt = otherPaths.get(path)
    const operation = {
      ...operationOf(route, components),
      ...(alsoAt !== undefined && { 'x-also-at': alsoAt }),
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
    yield
  }
  return paths
}
