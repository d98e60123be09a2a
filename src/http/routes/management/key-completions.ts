/** Completions of a partially typed key. */
import type { Route } from '#http/routing/route.ts'
import { KeyCompletions, KeyCompletionsPath, KeyCompletionsQuery } from '#model/wire/key-completion.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

export function keyCompletionsRoute(manage: Manage): Route {
  return manage({
    operation: 'completeKeys',
    method: 'GET',
    path: `${FACTS_BASE}/key_completions`,
    summary: 'List the first keys that begin with a text; quick, however many there are',
    params: KeyCompletionsPath,
    query: KeyCompletionsQuery,
    answer: KeyCompletions,
  })
}
