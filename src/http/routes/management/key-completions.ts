/** Completes a partially typed key. */
import type { Route } from '#http/routing/route.ts'
import { KeyCompletions, KeyCompletionsPath, KeyCompletionsQuery } from '#entities/key-completion.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

export function keyCompletionsRoute(manage: Manage): Route {
  return manage({
    operation: 'completeKeys',
    level: 'read',
    method: 'GET',
    path: `${FACTS_BASE}/key_completions`,
    summary: 'List the first keys with a prefix; fast for any number of keys',
    params: KeyCompletionsPath,
    query: KeyCompletionsQuery,
    answer: KeyCompletions,
  })
}
