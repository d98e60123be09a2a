/** Substring search in keys, names and email addresses. One request performs a limited part of the search. */
import type { Route } from '#http/routing/route.ts'
import { KeySearch, KeySearchPath, KeySearchQuery } from '#entities/key-search.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

export function keySearchesRoute(manage: Manage): Route {
  return manage({
    operation: 'searchKeys',
    level: 'read',
    method: 'GET',
    path: `${FACTS_BASE}/key_searches`,
    summary:
      'Search entities by a part of their key, name or e-mail address; each request examines a limited number',
    params: KeySearchPath,
    query: KeySearchQuery,
    answer: KeySearch,
  })
}
