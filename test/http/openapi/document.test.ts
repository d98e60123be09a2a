/** The OpenAPI document as it is served: a linter accepts it, and it has all routes of the route table. */
import { ACTOR, ACTOR_FOR } from '#http/message/header-fields.ts'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { Compile } from 'typebox/compile'
import { createDocument } from '#http/openapi/document.ts'
import { InstanceReference, isLongKey } from '#model/wire/references.ts'
import { VERSION } from '#model/version.ts'
import { routes as table } from '#testing/requests/routes.ts'
import { API_KEY, sharedService, startedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly deprecated?: boolean
  readonly 'x-early-access'?: boolean
  readonly security: readonly object[]
  readonly parameters: readonly Reference[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Reference } } }
  readonly responses: Readonly<Record<string, object>>
}

interface Reference {
  readonly $ref?: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string; readonly description: string }
  readonly servers: unknown
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** All routes except the files of web pages. */
const routes = table.filter(({ isDescribed }) => isDescribed)
const { body: served } = await verdict.send<Document>('GET', '/openapi.json', { key: null })
const operations = operationsOf(served)

function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
}

function parametersOf(operationId: string, document = served): Parameter[] {
  const operation = operationsOf(document).find(candidate => candidate.operationId === operationId)!
  return operation.parameters.map(parameter =>
    parameter.$ref === undefined
      ? (parameter as Parameter)
      : document.components.parameters[parameter.$ref.split('/').at(-1)!]!,
  )
}

/** The headers of an operation. The value is true if the operation requires the header. */
function headersOf(operationId: string, document = served): Record<string, boolean> {
  const headers = parametersOf(operationId, document).filter(parameter => parameter.in === 'header')
  return Object.fromEntries(headers.map(({ name, required = false }) => [name, required]))
}

test('a linter reports no errors and no warnings', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // `/groups/direct/{group}` and `/groups/{group}/users` are given. Fixed parts take precedence over
      // parameters.
      'no-ambiguous-paths': 'off',
      // The callback of a sign-in only redirects.
      'operation-2xx-response': 'off',
      // The following rules are not among the recommended rules.
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'operation-singular-tag': 'error',
      'parameter-description': 'error',
      'response-contains-header': { severity: 'error', names: { '2xx': ['X-Request-ID'] } },
      'tag-description': 'error',
    },
  })
  const findingsIn = async (source: string) => {
    const findings = await lintFromString({ source, absoluteRef: 'openapi.json', config })
    return findings.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
  }
  const source = JSON.stringify(served)
  expect(await findingsIn(source)).toEqual([])
  // Verifies the linter, which must report an operation without responses.
  expect(await findingsIn(source.replace('"responses":{"200"', '"answers":{"200"'))).not.toEqual([])
})

describe('the OpenAPI document', () => {
  test('has version 3.1, needs no key, and has exactly the routes of the route table', () => {
    expect(served.openapi).toMatch(/^3\.1\./)
    expect(served.info.version).toBe(VERSION)
    const described = operations.map(({ method, path, operationId }) => [method, path, operationId])
    expect(described.toSorted()).toEqual(
      routes.map(({ method, path, operationId }) => [method, path, operationId]).toSorted(),
    )
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  })

  test('names PUBLIC_URL as the server, or / by default', async () => {
    expect(served.servers).toEqual([{ url: '/' }])
    const elsewhere = await startedService({ publicUrl: 'https://pdp.example.com/authz' })
    const { body } = await elsewhere.get<Document>('/openapi.json')
    expect(body.servers).toEqual([{ url: 'https://pdp.example.com/authz' }])
    expect(Object.keys(body.paths)).toContain('/.well-known/authzen-configuration/authz')
  })

  test('marks deprecated and early-access lists', () => {
    const deprecated = operations.filter(operation => operation.deprecated).map(({ path }) => path)
    const groups = '/v2/schema/{proj_id}/{env_id}/groups'
    const group = `${groups}/{group_instance_key}`
    expect(new Set(deprecated)).toEqual(new Set(['/v1/tenants', '/v1/users', groups, group]))
    const early = operations.filter(operation => operation['x-early-access']).map(({ path }) => path)
    const lists = ['children', 'parents', 'roles', 'users'].map(list => `${group}/${list}`)
    const direct = [`${groups}/direct`, `${groups}/direct/{group_instance_key}`]
    expect(early.toSorted()).toEqual([...direct, ...lists].toSorted())
  })

  test('requires the headers without which a request is rejected, and no other headers', () => {
    const ofNginx = ['Permit-User-Key', 'Permit-Tenant-Id', 'Permit-Action', 'Permit-Resource-Type']
    for (const { operationId, path } of operations) {
      const required = Object.entries(headersOf(operationId)).flatMap(([name, is]) => (is ? [name] : []))
      expect(required, operationId).toEqual(path === '/nginx_allowed' ? ofNginx : [])
    }
    expect(headersOf('accessEvaluation')).toHaveProperty('Cache-Control')
  })

  test('describes the headers of actors once, so that generated methods have no arguments for them', () => {
    for (const { name, description } of [ACTOR, ACTOR_FOR]) {
      expect(served.info.description).toContain(`\`${name}\`: ${description}`)
      for (const { operationId } of operations) expect(headersOf(operationId)).not.toHaveProperty(name)
    }
  })

  test('requires X-Request-ID for decisions and Cache-Control for evaluations with STRICT_HEADERS', async () => {
    const strict = await startedService({ hasStrictHeaders: true })
    const { body: described } = await strict.get<Document>('/openapi.json')
    const ofGateways = ['/nginx_allowed', '/nginx_allowed', '/kong']
    const decisions = operations.filter(
      ({ path, method }) => method === 'POST' && !path.startsWith('/v2') && !ofGateways.includes(path),
    )
    expect(decisions).toHaveLength(14)
    for (const { operationId } of operations) {
      const isDecision = decisions.some(decision => decision.operationId === operationId)
      expect(headersOf(operationId, described)['X-Request-ID'], operationId).toBe(isDecision)
    }
    const ofDecisions = { 'X-Request-ID': true, 'X-Min-Revision': false }
    expect(headersOf('accessEvaluation', described)).toEqual({ ...ofDecisions, 'Cache-Control': true })
    expect(headersOf('accessEvaluations', described)).toEqual({ ...ofDecisions, 'Cache-Control': true })
    expect(headersOf('isAllowed', described)).toEqual(ofDecisions)
    const waiting = operations.filter(
      ({ operationId }) => 'X-Min-Revision' in headersOf(operationId, described),
    )
    const others = ['/local/role_assignments', ...ofGateways]
    expect(waiting.map(({ path }) => path).toSorted()).toEqual(
      [...decisions.map(({ path }) => path), ...others].toSorted(),
    )
  })

  test('has every parameter that the routes read', () => {
    for (const { operationId, params, query } of routes) {
      const described = parametersOf(operationId).filter(parameter => parameter.in !== 'header')
      const read = [
        ...Object.keys((params?.schema as { properties?: object } | undefined)?.properties ?? {}),
        ...Object.keys(query?.schema.properties ?? {}),
      ]
      expect(described.map(({ name }) => name).toSorted(), operationId).toEqual(read.toSorted())
    }
  })

  test('describes attribute filters as parameters with the prefix attr_', () => {
    const [filters] = parametersOf('listTenants').filter(({ name }) => name === 'attributes')
    expect(filters).toMatchObject({
      schema: {
        type: 'object',
        propertyNames: { pattern: '^attr_.' },
        additionalProperties: { type: 'string' },
      },
    })
  })

  test.each([
    ['LongKey', ['a', 'a:b', '計画', ' ', 'x'.repeat(512)], ['', 'a\nb', '\u0085', 'x'.repeat(513)]],
    ['InstanceReference', ['a', 'a:b', 'a:b:c', `a:${'x'.repeat(512)}`], ['', 'a:', ':a', 'é:a', 'a:\0']],
  ])('has a pattern for %s that accepts the same texts as the code', (name, good, bad) => {
    const { pattern } = served.components.schemas[name] as { pattern: string }
    const fitting = [...good, ...bad].filter(text => new RegExp(pattern, 'u').test(text))
    expect(fitting).toEqual(good)
    const checked = name === 'LongKey' ? isLongKey : (text: string) => Compile(InstanceReference).Check(text)
    expect(fitting.filter(text => !checked(text))).toEqual([])
    expect(bad.filter(text => text !== '' && checked(text))).toEqual([])
  })

  test('has components for all objects that are used more than once', () => {
    const seen = new Map<string, number>()
    const count = (node: unknown, isComponent: boolean): void => {
      if (typeof node !== 'object' || node === null) return
      const { type, properties } = node as { type?: unknown; properties?: object }
      if (type === 'object' && properties !== undefined && !isComponent) {
        const text = JSON.stringify(node)
        seen.set(text, (seen.get(text) ?? 0) + 1)
      }
      for (const part of Object.values(node)) count(part, false)
    }
    for (const schema of Object.values(served.components.schemas)) count(schema, true)
    count(served.paths, false)
    expect([...seen].filter(([, times]) => times > 1).map(([text]) => text)).toEqual([])
  })

  test('states the API keys that an operation accepts', () => {
    const [environment, project, organization] = ['environment', 'project', 'organization'].map(kind => ({
      [`${kind}Key`]: [],
    }))
    const securityOf = (id: string) => operations.find(({ operationId }) => operationId === id)!.security
    expect(securityOf('isAllowed')).toEqual([environment])
    expect(securityOf('createProject')).toEqual([organization])
    expect(securityOf('createEnvironment')).toEqual([project, organization])
    expect(securityOf('createUser')).toEqual([environment, project, organization])
    expect(securityOf('authzenMetadata')).toEqual([{}, environment, project, organization])
    expect(securityOf('getReference')).toEqual([])
  })

  test.each(['subject', 'resource', 'action'])('has a valid example of a search for a %s', async kind => {
    const path = `/access/v1/search/${kind}`
    const { schema } = served.paths[path]!['post']!.requestBody!.content['application/json']
    const described = served.components.schemas[schema.$ref!.split('/').at(-1)!] as { examples: object[] }
    expect((await verdict.post(path, described.examples[0])).status).toBe(200)
  })

  test('requires a resource id in evaluations with AUTHZEN_STRICT', async () => {
    const strict = await startedService({ isAuthzenStrict: true })
    const { body } = await strict.get<Document>('/openapi.json')
    const { requestBody } = body.paths['/access/v1/evaluation']!['post']!
    expect(requestBody!.content['application/json'].schema.$ref).toMatch(/\/StrictEvaluationRequest$/)
  })
})

describe('static content', () => {
  const PATHS = routes
    .filter(({ operationId }) => /^getReference|^getConsole$/.test(operationId))
    .map(({ path }) => path)

  test.each(['/openapi.json', ...PATHS])(
    'is compressed if the client accepts gzip, and not sent again if it has not changed: %s',
    async path => {
      const get = (headers: Record<string, string>) => fetch(verdict.address + path, { headers })
      const plain = await get({ 'accept-encoding': 'identity' })
      expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null])
      const text = await plain.text()
      expect(text).not.toBe('')
      for (const accepted of ['gzip', 'br, gzip;q=0.5', '*', 'GZIP']) {
        const gzipped = await get({ 'accept-encoding': accepted })
        expect([accepted, gzipped.headers.get('content-encoding')]).toEqual([accepted, 'gzip'])
        expect(await gzipped.text()).toBe(text)
        expect(gzipped.headers.get('etag')).not.toBe(plain.headers.get('etag'))
      }
      for (const accepted of ['br', 'gzip;q=0', 'gzip; q=0.0, br', 'x-gzip']) {
        expect((await get({ 'accept-encoding': accepted })).headers.get('content-encoding')).toBeNull()
      }
      const etag = plain.headers.get('etag')!
      for (const current of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const kept = await get({ 'accept-encoding': 'identity', 'if-none-match': current })
        expect([current, kept.status, await kept.text()]).toEqual([current, 304, ''])
        expect(kept.headers.get('etag')).toBe(etag)
      }
      const outdated = await get({ 'accept-encoding': 'identity', 'if-none-match': '"other"' })
      expect([outdated.status, await outdated.text()]).toEqual([200, text])
      expect(plain.headers.get('vary')).toBe('Accept-Encoding')
      expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test('does not contain API keys', async () => {
    for (const path of ['/openapi.json', ...PATHS]) {
      expect(await (await fetch(verdict.address + path)).text()).not.toContain(API_KEY)
    }
  })
})

test('the OpenAPI document is created in short steps, one or more per operation, so that it does not block decisions', () => {
  const steps = createDocument(table, { publicUrl: null, hasStrictHeaders: false })
  let count = 0
  while (!steps.next().done) count += 1
  expect(count).toBeGreaterThanOrEqual(operations.length)
})

function getRoot(accept: string): Promise<Response> {
  return fetch(`${verdict.address}/`, { headers: { accept }, redirect: 'manual' })
}

test.each(['*/*', 'application/json', 'text/html2', ''])(
  'GET / returns the name and version of the service to programs (Accept: %j)',
  async accept => {
    const response = await getRoot(accept)
    expect([response.status, await response.json()]).toEqual([
      200,
      { name: 'Verdict', version: VERSION, docs: 'docs', openapi: 'openapi.json' },
    ])
  },
)

test('GET / redirects a browser to the reference with a relative URL', async () => {
  const response = await getRoot('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')
  expect([response.status, response.headers.get('location')]).toEqual([302, 'docs'])
  const followed = await fetch(`${verdict.address}/`, { headers: { accept: 'TEXT/HTML' } })
  expect([followed.url, followed.status]).toEqual([`${verdict.address}/docs`, 200])
})

test('the files of the reference are served, but are not in the OpenAPI document', async () => {
  expect(Object.keys(served.paths).filter(path => path.startsWith('/docs'))).toEqual(['/docs'])
  for (const file of ['start.js', 'swagger-ui-bundle.js', 'swagger-ui.css']) {
    expect((await fetch(`${verdict.address}/docs/${file}`)).status).toBe(200)
  }
})
