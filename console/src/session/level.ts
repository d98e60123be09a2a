/**
 * Tells whether the level of the session is too low. The console does not offer changes for which it is. The
 * service checks the level of every request.
 */
import { useCurrentEnvironmentIfAny } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { highest, includes, type Level, useHeld } from './held.ts'
import { useAccount } from './session.ts'

/** Why the level of the session is too low, as a sentence. Null if it suffices or is not known yet. */
export function useTooLow(needed: Level, isDelegable = false): string | null {
  const held = useHeld(useCurrentEnvironmentIfAny())
  const { shell, account: texts, members } = useTexts()
  const isMember = useAccount() !== null
  if (held === null || includes(held.level, needed)) return null
  const { level, delegated } = held
  if (isDelegable && delegated !== null && includes(delegated.level, needed)) return null
  const present = highest([level, delegated?.level ?? 'no_access'])
  if (includes(present, needed)) return texts.delegated
  if (!isMember) return shell.tooLow(needed, present)
  return present === 'no_access'
    ? texts.noGrants
    : texts.tooLow(members.levels[needed], members.levels[present])
}
