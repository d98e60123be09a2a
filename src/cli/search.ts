/** Searches through the AuthZEN interface, all pages of them. */
import { type Api, request } from './api.ts'

/** What is looked for. */
export type SearchedPart = 'subject' | 'resource' | 'action'

export interface SearchQuestion {
  readonly user?: string | undefined
  readonly action?: string | undefined
  readonly type: string
  readonly key?: string | undefined
  readonly tenant?: string | undefined
}

interface SearchAnswer {
  readonly results: readonly { readonly id?: string; readonly name?: string }[]
  readonly page: { readonly next_token: string }
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
    const answer = (await request(api, 'POST', `/access/v1/search/${part}`, {
      ...body,
      ...page,
    })) as SearchAnswer
    found.push(...answer.results.map(({ id, name }) => id ?? name ?? ''))
    token = answer.page.next_token
    if (token === '') return found
  }
}
