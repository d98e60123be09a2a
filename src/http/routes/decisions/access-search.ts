/** AuthZEN searches for subjects, resources and actions (authzen.md 5). */
import type { SearchService } from '#decisions/search-service.ts'
import type { KeyPage } from '#engine/engine.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import type { Reply } from '#http/message/request-reply.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import {
  ActionSearchRequest,
  ActionSearchResponse,
  EntitySearchResponse,
  type PageInSearch,
  ResourceSearchRequest,
  SubjectSearchRequest,
} from '#model/wire/decisions/access.ts'
import type { PagePosition, PageTokens } from './page-token.ts'

export interface SearchOptions {
  readonly tokens: PageTokens
  readonly searchPageSize: number
  readonly searchPageSizeMax: number
}

const SHARED = {
  method: 'POST',
  family: 'access',
  access: 'environment',
  requireJsonContentType: true,
  headers: [REQUIRED_REQUEST_ID],
} as const

export function accessSearchRoutes(search: SearchService, options: SearchOptions): Route[] {
  return [
    defineRoute({
      ...SHARED,
      path: '/access/v1/search/subject',
      operationId: 'searchSubjects',
      level: 'read',
      summary: 'AuthZEN subject search: users who can perform an action on a resource',
      body: SubjectSearchRequest,
      responses: {
        200: {
          description: 'A page of results, in ascending order of their IDs.',
          schema: EntitySearchResponse,
        },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const { subject, action, resource, context, page } = body
        const searched = { ...subject, id: null }
        const bound = ['subject', environmentId, ...[searched, action, resource].map(known), context]
        const position = positionOf(options, bound, page ?? null)
        const found = search.subjects(environmentId, body, position, caller)
        return answer(options, { bound, position, found }, id => ({ type: subject.type, id }))
      },
    }),
    defineRoute({
      ...SHARED,
      path: '/access/v1/search/resource',
      operationId: 'searchResources',
      level: 'decide',
      summary: 'AuthZEN resource search: resources on which a user can perform an action',
      body: ResourceSearchRequest,
      responses: {
        200: {
          description: 'A page of results, in ascending order of their IDs.',
          schema: EntitySearchResponse,
        },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const { subject, action, resource, context, page } = body
        const searched = { ...resource, id: null }
        const bound = ['resource', environmentId, ...[subject, action, searched].map(known), context]
        const position = positionOf(options, bound, page ?? null)
        const found = search.resources(environmentId, body, position, caller)
        return answer(options, { bound, position, found }, id => ({ type: resource.type, id }))
      },
    }),
    defineRoute({
      ...SHARED,
      path: '/access/v1/search/action',
      operationId: 'searchActions',
      level: 'decide',
      summary: 'AuthZEN action search: actions that a user can perform on a resource',
      body: ActionSearchRequest,
      responses: {
        200: {
          description: 'A page of results, in ascending order of their names.',
          schema: ActionSearchResponse,
        },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const { subject, resource, context, page } = body
        const bound = ['action', environmentId, ...[subject, resource].map(known), context]
        const position = positionOf(options, bound, page ?? null)
        const found = search.actions(environmentId, body, position, caller)
        return answer(options, { bound, position, found }, name => ({ name }))
      },
    }),
  ]
}

/** Known members of an entity or an action. Other members are ignored, and a null value counts as absent. */
function known(of: {
  readonly type?: string
  readonly id?: string | null
  readonly name?: string
  readonly properties?: Readonly<Record<string, unknown>> | null
}): readonly unknown[] {
  return [of.type, of.id, of.name, of.properties]
}

/**
 * Position of the requested page. A request without a token gets the first page. A request with a token gets
 * the page at the position in the token, with the page size of the first page.
 */
function positionOf(
  { tokens, searchPageSize, searchPageSizeMax }: SearchOptions,
  bound: readonly unknown[],
  page: PageInSearch | null,
): PagePosition {
  const token = oneOf('token', page?.token ?? null, 'next_token', page?.next_token ?? null)
  const asked = oneOf('limit', page?.limit ?? null, 'size', page?.size ?? null)
  const limit = asked === null ? null : Math.min(asked, searchPageSizeMax)
  if (token === null || token === '')
    return { limit: limit ?? Math.min(searchPageSize, searchPageSizeMax), after: null }
  const position = tokens.read(bound, token)
  if (limit !== null && limit !== position.limit) {
    throw new AuthzError(
      'INVALID_INPUT',
      `page.limit: the token belongs to pages of ${position.limit} results; omit the limit`,
    )
  }
  return position
}

/** Value of a parameter that has two names. Throws if both are given with different values. */
function oneOf<Value>(
  name: string,
  value: Value | null,
  otherName: string,
  other: Value | null,
): Value | null {
  if (value !== null && other !== null && value !== other) {
    throw new AuthzError(
      'INVALID_INPUT',
      `page: ${name} and ${otherName} have the same meaning but different values`,
    )
  }
  return value ?? other
}

interface SearchAnswer {
  /**
   * Parts of the request that must be the same in the request for the next page. The page token is bound to
   * them.
   */
  readonly bound: readonly unknown[]
  readonly position: PagePosition
  readonly found: KeyPage | Promise<KeyPage>
}

/** Response with the found page and a token for the next one. */
function answer(
  options: SearchOptions,
  { bound, position, found }: SearchAnswer,
  present: (key: string) => unknown,
): Reply | Promise<Reply> {
  if (found instanceof Promise) {
    return found.then(page => answer(options, { bound, position, found: page }, present) as Reply)
  }
  const { keys, total, hasMore, last } = found
  const nextToken = hasMore ? options.tokens.issue(bound, { limit: position.limit, after: last }) : ''
  const page = { next_token: nextToken, count: keys.length, ...(total !== null && { total }) }
  return { status: 200, body: { page, results: keys.map(present) } }
}
