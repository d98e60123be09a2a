/**
 * Permissions of the session key by its level. The console does not offer changes for which the level is too
 * low. The service checks the level of every request.
 */
import type { Schemas } from '../interface/client.ts'
import { useTexts } from '../texts/texts.tsx'
import { useScope } from './scope.ts'

export type Level = Schemas['AccessLevel']

/** All levels. Each includes those before it. */
export const LEVELS = ['no_access', 'decide', 'read', 'write_facts', 'write', 'admin'] as const

/** Why the level of the session key is too low, as a sentence. Null if it suffices or is not known yet. */
export function useTooLow(needed: Level): string | null {
  const { data: scope } = useScope()
  const texts = useTexts().shell
  const held = scope?.access_level ?? 'admin'
  return LEVELS.indexOf(held) < LEVELS.indexOf(needed) ? texts.tooLow(needed, held) : null
}
