/**
 * Frame around every page of an environment. It contains the name of the environment, the navigation and the
 * sign-out button.
 */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { answerOf, service } from '../interface/client.ts'
import { Action } from '../parts/action.tsx'
import { useScope } from '../session/scope.ts'
import { signOut } from '../session/session.ts'
import type { Texts } from '../texts/en.ts'
import { useTexts } from '../texts/texts.tsx'
import { Brand } from './brand.tsx'
import type { IconName } from './icons.tsx'
import { leave } from './leaving.ts'
import { Navigation } from './navigation.tsx'
import { useCurrentEnvironment } from './current-environment.tsx'
import { Settings } from './settings.tsx'
import { SkipLink } from './skip-link.tsx'

const PAGES: readonly {
  readonly name: keyof Texts['shell']['pages']
  readonly parts: readonly string[]
  readonly icon: IconName
}[] = [
  { name: 'questions', parts: ['questions'], icon: 'question' },
  { name: 'groups', parts: ['groups'], icon: 'groups' },
  { name: 'model', parts: ['model'], icon: 'model' },
  { name: 'access', parts: ['access'], icon: 'access' },
  { name: 'audit', parts: ['access', 'audit'], icon: 'audit' },
  { name: 'operations', parts: ['operations'], icon: 'operations' },
  { name: 'keys', parts: ['operations', 'keys'], icon: 'key' },
]

export function Frame({ children }: { readonly children: ReactNode }) {
  const texts = useTexts().shell
  const environment = useCurrentEnvironment()
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
          <Action isSmall onPress={() => leave(() => signOut('asked'))}>
            {texts.signOut}
          </Action>
        </span>
      </header>
      <Navigation
        links={PAGES.map(({ name, icon, parts }) => ({
          to: environment.to(...parts),
          text: texts.pages[name],
          icon,
        }))}
      />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

/**
 * Names of the project and the environment. They are shown only if the key can read them, which an
 * environment key cannot.
 */
function EnvironmentName() {
  const texts = useTexts().shell
  const { path, key } = useCurrentEnvironment()
  const { data: scope } = useScope()
  const { data } = useQuery({
    queryKey: key('none', 'name'),
    queryFn: ({ signal }) =>
      answerOf(service.GET('/v2/projects/{proj_id}/envs/{env_id}', { params: { path }, signal })),
    enabled: scope !== undefined && !scope.environment_id,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return <span>{data === undefined ? texts.ownEnvironment : `${path.proj_id} / ${data.name}`}</span>
}
