/** OpenAPI document and API reference. The routes are public, because their content has no customer data. */
import { promises as files } from 'node:fs'
import { type TSchema, Type } from 'typebox'
import { CACHE_CONTROL, ETAG, IF_NONE_MATCH } from '#http/message/header-fields.ts'
import type { Json } from '#http/openapi/schema-components.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AttributeMap } from '#model/wire/common-fields.ts'
import { OWN_FILES_ONLY } from './page-policy.ts'
import { REFERENCE_PAGE, REFERENCE_START } from './reference-page.ts'
import { StaticContent } from './static-content.ts'

interface Content {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly contentType: string
  readonly schema: TSchema
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the OpenAPI document describes the path. False for files that only the page loads. */
  readonly isDescribed?: boolean
  load(): Promise<Uint8Array> | Uint8Array
}

/**
 * `describe` creates the OpenAPI document. It is called at the first request, when the route table is
 * complete.
 */
export function referenceRoutes(describe: () => Resumable<Json>): Route[] {
  const text = Type.String()
  return [
    contentRoute({
      path: '/openapi.json',
      operationId: 'getDescription',
      summary: 'Read this description',
      contentType: 'application/json',
      schema: AttributeMap,
      load: async () => Buffer.from(JSON.stringify(await inSlices(describe()))),
    }),
    contentRoute({
      path: '/docs',
      operationId: 'getReference',
      summary: 'Open the reference in a browser',
      contentType: 'text/html; charset=utf-8',
      schema: text,
      headers: { 'Content-Security-Policy': OWN_FILES_ONLY, 'Referrer-Policy': 'no-referrer' },
      load: () => Buffer.from(REFERENCE_PAGE),
    }),
    contentRoute({
      path: '/docs/start.js',
      operationId: 'getReferenceStart',
      summary: 'Read the script that starts the reference',
      contentType: 'text/javascript; charset=utf-8',
      isDescribed: false,
      schema: text,
      load: () => Buffer.from(REFERENCE_START),
    }),
    contentRoute({
      path: '/docs/swagger-ui-bundle.js',
      operationId: 'getReferenceScript',
      summary: 'Read the script of the reference',
      contentType: 'text/javascript; charset=utf-8',
      isDescribed: false,
      schema: text,
      load: () => packaged('swagger-ui-bundle.js'),
    }),
    contentRoute({
      path: '/docs/swagger-ui.css',
      operationId: 'getReferenceStyle',
      summary: 'Read the style sheet of the reference',
      contentType: 'text/css; charset=utf-8',
      isDescribed: false,
      schema: text,
      load: () => packaged('swagger-ui.css'),
    }),
  ]
}

function contentRoute({ contentType, schema, headers, load, ...named }: Content): Route {
  const content = new StaticContent(contentType, load, headers)
  const [mediaType] = contentType.split(';') as [string]
  const kept = [ETAG, CACHE_CONTROL]
  return defineRoute({
    method: 'GET',
    ...named,
    family: 'native',
    access: 'public',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'The content.', schema, contentType: mediaType, headers: kept },
      304: { description: 'The copy of the client is current.', headers: kept },
    },
    handle: call => content.reply(call),
  })
}

/**
 * Performs the work step by step, and yields to the event loop after each step, so that decisions are not
 * delayed.
 */
async function inSlices<Answer>(work: Resumable<Answer>): Promise<Answer> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await new Promise(resolve => setImmediate(resolve))
  }
}

function packaged(file: string): Promise<Uint8Array> {
  return files.readFile(new URL(import.meta.resolve(`swagger-ui-dist/${file}`)))
}
