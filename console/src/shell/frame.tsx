/**
 * Frame around every page of an environment. It contains the name of the environment, the navigation and the
 * sign-out button.
 */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { answerOf, service } from '../interface/client.ts'
import type { Grant } from '../session/account.ts'
import { includes, reachesTo } from '../session/held.ts'
import { useScope } from '../session/scope.ts'
import { useAccount } from '../session/session.ts'
import { SessionNotice } from '../session/session-notice.tsx'
import { AccountLink, SignOut } from '../session/sign-out.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Brand } from './brand.tsx'
import { Navigation } from './navigation.tsx'
import { useCurrentEnvironment } from './current-environment.tsx'
import { MEMBERS } from './links.ts'
import { useEnvironmentPages, useHasMembers } from './pages-of.ts'
import { Settings } from './settings.tsx'
import { SkipLink } from './skip-link.tsx'

export function Frame({ children }: { readonly children: ReactNode }) {
  const texts = useTexts().shell
  const environment = useCurrentEnvironment()
  const pages = useEnvironmentPages()
  const hasMembers = useHasMembers()
  return (
    <div className="frame">
      <SkipLink />
      <header>
        <Link href="/" className="brand">
          <Brand />
        </Link>
        <span className="row small">
          <span
            className={`live-mark ${environment.live}`}
            role="img"
            aria-label={texts.live[environment.live]}
            title={texts.live[environment.live]}
          />
          <EnvironmentName />
        </span>
        <span className="settings row">
          <Settings />
          <AccountLink />
          <SignOut />
        </span>
      </header>
      <Navigation
        links={[
          ...pages.map(({ name, icon, parts }) => ({
            to: environment.to(...parts),
            text: texts.pages[name],
            icon,
          })),
          ...(hasMembers ? [{ to: MEMBERS, text: texts.pages.members, icon: 'members' as const }] : []),
        ]}
      />
      <SessionNotice />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

/**
 * Names of the project and the environment. They are shown only if the session can read them. The key of an
 * environment cannot. A member with a grant on the environment alone knows them from the grant.
 */
function EnvironmentName() {
  const texts = useTexts().shell
  const { path, key } = useCurrentEnvironment()
  const { data: scope } = useScope()
  const account = useAccount()
  const [granted, isWide] = useMemo(() => grantsAt(account?.grants ?? [], path), [account, path])
  const { data } = useQuery({
    queryKey: key('none', 'name'),
    queryFn: ({ signal }) =>
      answerOf(service.GET('/v2/projects/{proj_id}/envs/{env_id}', { params: { path }, signal })),
    enabled: account === null ? scope !== undefined && !scope.environment_id : isWide,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const name = data?.name ?? granted?.environment_name ?? granted?.environment_key
  if (name !== undefined) return <span>{`${granted?.project_key ?? path.proj_id} / ${name}`}</span>
  return <span>{account === null ? texts.ownEnvironment : `${path.proj_id} / ${path.env_id}`}</span>
}

/** The grant on the environment itself, and whether a grant on its project or the organization exists. */
function grantsAt(
  grants: readonly Grant[],
  { proj_id: project, env_id: environment }: { readonly proj_id: string; readonly env_id: string },
): readonly [Grant | undefined, boolean] {
  const here = grants.filter(grant => reachesTo(grant, { project, environment }))
  return [
    here.find(({ object_type: kind }) => kind === 'env'),
    here.some(({ object_type: kind, access_level: level }) => kind !== 'env' && includes(level, 'read')),
  ]
}
