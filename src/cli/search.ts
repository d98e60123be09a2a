/** Searches through the AuthZEN interface, all pages of them. */
import { Type } from 'typebox'
import { ActionSearchResponse, EntitySearchResponse } from '#model/wire/access.ts'
import { type Api, ask } from './api.ts'

const SearchResponse = Type.Union([EntitySearchResponse, ActionSearchResponse])

/** The part that is searched for. */
export type SearchedPart = 'subject' | 'resource' | 'action'

export interface SearchQuestion {
  readonly user?: string | undefined
  readonly action?: string | undefined
  readonly type: string
  readonly key?: string | undefined
  readonly tenant?: string | undefined
}

/** The keys of everything that is found, in the order of the service. */
export async function search(api: Api, part: SearchedPart, question: SearchQuestion): Promise<string[]> {
  const { user, action, type, key, tenant } = question
  const body = {
    subject: { type: 'user', ...(user !== undefined && { id: user }) },
    ...(action !== undefined && { action: { name: action } }),
    resource: {
      type,
      ...(key !== undefined && { id: key }),
      ...(tenant !== undefined && { properties: { tenant } }),
    },
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
