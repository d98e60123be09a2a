/** Pages that the session can use, for the navigation. */
import { type Held, includes, useHeld, useManaged, useManagesKeys } from '../session/held.ts'
import { useSession } from '../session/session.ts'
import { useSignInWays } from '../session/use-ways.ts'
import type { Texts } from '../texts/en.ts'
import { useCurrentEnvironment } from './current-environment.tsx'
import type { IconName } from './icons.tsx'

interface EnvironmentPage {
  readonly name: keyof Texts['shell']['pages']
  readonly parts: readonly string[]
  readonly icon: IconName
}

const PAGES: readonly EnvironmentPage[] = [
  { name: 'questions', parts: ['questions'], icon: 'question' },
  { name: 'groups', parts: ['groups'], icon: 'groups' },
  { name: 'model', parts: ['model'], icon: 'model' },
  { name: 'access', parts: ['access'], icon: 'access' },
  { name: 'audit', parts: ['access', 'audit'], icon: 'audit' },
  { name: 'operations', parts: ['operations'], icon: 'operations' },
  { name: 'keys', parts: ['operations', 'keys'], icon: 'key' },
]

/** Pages for a session whose grants are limited to tenants. */
const DELEGATED_PAGES: readonly EnvironmentPage[] = [
  { name: 'assignments', parts: ['assignments'], icon: 'access' },
  { name: 'groups', parts: ['groups'], icon: 'groups' },
]

/** Whether all grants of the session in this environment are limited to tenants. */
export function isDelegate(held: Held | null): boolean {
  return held !== null && held.delegated !== null && !includes(held.level, 'read')
}

export function useEnvironmentPages(): readonly EnvironmentPage[] {
  const environment = useCurrentEnvironment()
  const held = useHeld(environment)
  const isKey = useSession().kind === 'key'
  const manages = useManagesKeys() === true
  if (isDelegate(held)) return DELEGATED_PAGES
  if (held !== null && !includes(held.level, 'read')) return []
  // A page states why the key of an environment cannot manage keys.
  return PAGES.filter(({ name }) => name !== 'keys' || isKey || manages)
}

/** Whether the page about members is offered: sign-in is switched on, and the session sees members. */
export function useHasMembers(): boolean {
  const { data: ways } = useSignInWays()
  const widest = useManaged()?.widest ?? null
  const isKey = useSession().kind === 'key'
  // The key of an environment is for services, which do not manage members.
  return widest !== null && !(isKey && widest === 'env') && ways !== undefined && ways.oidc !== null
}
