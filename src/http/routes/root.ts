/** `GET /`: redirects browsers to the API reference, and describes the service to other clients. */
import { Type } from 'typebox'
import { LOCATION, VARY } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { VERSION } from '#model/version.ts'

const Root = Type.Object({
  name: Type.String({ description: 'What answers here.' }),
  version: Type.String({ description: 'The release that runs.' }),
  docs: Type.String({ description: 'Where a person reads on.' }),
  openapi: Type.String({ description: 'Where a program does.' }),
})

/** Relative paths, so that they work behind a proxy that adds a path prefix. */
const [DOCS, OPENAPI] = ['docs', 'openapi.json']

export function rootRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/',
    operationId: 'getEntrance',
    summary: 'What answers here; a browser is led to the reference',
    family: 'native',
    access: 'public',
    responses: {
      200: { description: 'The service.', schema: Root, headers: [VARY] },
      302: { description: 'To the reference, where HTML is asked for.', headers: [LOCATION, VARY] },
    },
    handle: ({ headers }) => {
      if (asksForHtml(headers.get('accept') ?? '')) {
        return { status: 302, body: undefined, headers: { Location: DOCS!, Vary: 'Accept' } }
      }
      const body = { name: 'Verdict', version: VERSION, docs: DOCS, openapi: OPENAPI }
      return { status: 200, body, headers: { Vary: 'Accept' } }
    },
  })
}

/** Whether an `Accept` header contains HTML. Browsers always send it, other clients do not. */
function asksForHtml(accepted: string): boolean {
  return accepted.split(',').some(part => part.split(';')[0]!.trim().toLowerCase() === 'text/html')
}
