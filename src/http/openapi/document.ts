/**
 * Creates an OpenAPI 3.1 document from a route table. The whole document is derived from the routes and from
 * the schemas that validate requests. It therefore describes only what the service enforces or returns. New
 * routes are included automatically, unless they set `isDescribed` to false.
 */
import { ACTOR, ACTOR_FOR } from '#http/message/header-fields.ts'
import type { Route } from '#http/routing/route.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { VERSION } from '#model/version.ts'
import { HeaderComponents } from './answer-headers.ts'
import { type Components, operationOf } from './operation.ts'
import { ParameterComponents } from './parameters.ts'
import { RefusalComponents } from './refusals.ts'
import { type Json, SchemaComponents } from './schema-components.ts'
import { schemaNames } from './schema-names.ts'
import { tagOf, tagsAmong } from './tags.ts'

const DESCRIPTION = `Verdict answers "may this user do this on that resource?" from stored roles, groups and relations.

A decision is a value: the response to a denied check is 200. Unknown request fields are ignored, and null is the same
as an absent optional field. A change takes effect before its response is sent.

The form of errors depends on the path: text under \`/access/v1\` and for the AuthZEN metadata, management error objects
under \`/v1\`, \`/v2\` and \`/facts\`, \`{code, message}\` everywhere else. A path that is not described here is 404.
The response to malformed HTTP is 400 in HTML. Texts are Unicode: unpaired surrogates are rejected everywhere.

Each operation under \`/v1\`, \`/v2\` and \`/facts\` that needs an API key also reads two optional headers. They are not listed
as parameters, because generated methods would have two more arguments. Set them with the request options of your client.

${[ACTOR, ACTOR_FOR].map(({ name, description }) => `- \`${name}\`: ${description}`).join('\n')}

An operation with \`x-also-at\` has a second path for API keys of environments only. The API key then selects the
project and the environment that the first path contains.`

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description })

const SECURITY_SCHEMES = {
  environmentKey: bearer('API key of an environment: makes decisions in it and manages it.'),
  projectKey: bearer(
    'API key of a project. It manages the project, its environments and their API keys. It cannot make decisions.',
  ),
  organizationKey: bearer('API key of the organization: manages everything. Makes no decisions.'),
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-verdict-session',
    description:
      'Session of a member who has signed in. Operations that accept an API key also accept a session, if the grants of the member are sufficient. Each response to a request with this cookie has `Cache-Control: no-store`.',
  },
  csrfToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The `csrf_token` in the response of `getSession`.',
  },
}

/** Settings on which the content of the document depends. */
export interface DescribedSettings {
  /** Public base URL of the service. If null, clients use the host from which they loaded the document. */
  readonly publicUrl: string | null
  readonly hasStrictHeaders: boolean
}

/**
 * Creates the document. The generator yields after each route, which takes less than a millisecond. Creating
 * the whole document without a pause would delay decisions for too long.
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

/** `otherPaths`: maps an alternative path to the original path. */
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
