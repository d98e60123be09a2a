/** `GET /`: redirects browsers to the API reference, and describes the service to other clients. */
import { Type } from 'typebox'
import { LOCATION, VARY } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { VERSION } from '#model/version.ts'

const Root = Type.Object({
  name: Type.String({ description: 'Name of the service.' }),
  version: Type.String({ description: 'Release of the service.' }),
  docs: Type.String({ description: 'Path of the API reference, which is a page for people.' }),
  openapi: Type.String({ description: 'Path of the OpenAPI document, which is for programs.' }),
})

/** Both paths are relative, so that they also work if a proxy adds a prefix to the paths. */
const [DOCS, OPENAPI] = ['docs', 'openapi.json']

export function rootRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/',
    operationId: 'getEntrance',
    summary: 'Describe the service; browsers are redirected to the reference',
    family: 'native',
    access: 'public',
    responses: {
      200: { description: 'Description of the service.', schema: Root, headers: [VARY] },
      302: {
        description: 'Redirect to the reference if the client accepts HTML.',
        headers: [LOCATION, VARY],
      },
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

/** Whether an `Accept` header contains HTML. Browsers always send this type, and other clients do not. */
function asksForHtml(accepted: string): boolean {
  return accepted.split(',').some(part => part.split(';')[0]!.trim().toLowerCase() === 'text/html')
}
