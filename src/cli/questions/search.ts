/** Searches with the AuthZEN API and reads all pages of the results. */
import { Type } from 'typebox'
import { ActionSearchResponse, EntitySearchResponse } from '#model/wire/decisions/access.ts'
import { type Api, ask } from '#cli/session/api.ts'
import type { AttributesAndContext } from './question.ts'

const SearchResponse = Type.Union([EntitySearchResponse, ActionSearchResponse])

/** The part of a check for which the search returns values. */
export type SearchedPart = 'subject' | 'resource' | 'action'

export interface SearchQuestion {
  readonly user?: string | undefined
  readonly action?: string | undefined
  readonly type: string
  readonly key?: string | undefined
  readonly tenant?: string | undefined
  readonly attributes?: AttributesAndContext['attributes']
  readonly context?: AttributesAndContext['context']
}

/** Returns the keys of all results, in the order in which the service returns them. */
export async function search(api: Api, part: SearchedPart, question: SearchQuestion): Promise<string[]> {
  const { user, action, type, key, tenant, attributes, context } = question
  // The tenant is sent as a property of the resource. It takes precedence over an attribute with the same
  // name.
  const properties = { ...attributes?.resource, ...(tenant !== undefined && { tenant }) }
  const body = {
    subject: {
      type: 'user',
      ...(user !== undefined && { id: user }),
      ...(attributes?.user && { properties: attributes.user }),
    },
    ...(action !== undefined && { action: { name: action } }),
    resource: {
      type,
      ...(key !== undefined && { id: key }),
      ...(Object.keys(properties).length > 0 && { properties }),
    },
    ...(context && { context }),
  }
  const found: string[] = []
  for (let token = ''; ;) {
    const page = token === '' ? {} : { page: { token } }
    const path = `/access/v1/search/${part}`
    const answer = await ask(api, SearchResponse, 'POST', path, { ...body, ...page })
    found.push(...answer.results.map(result => ('id' in result ? result.id : result.name)))
    token = answer.page.next_token
    if (token === '') return found
  }
}
