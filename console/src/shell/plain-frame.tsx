/** Frame around pages that are not about an environment. Used for organization and project keys. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Action } from '../parts/action.tsx'
import { signOut } from '../session/session.ts'
import { useTexts } from '../texts/texts.tsx'
import { Brand } from './brand.tsx'
import { leave } from './leaving.ts'
import { Navigation } from './navigation.tsx'
import { Settings } from './settings.tsx'
import { SkipLink } from './skip-link.tsx'

export function PlainFrame({ children }: { readonly children: ReactNode }) {
  const texts = useTexts().shell
  return (
    <div className="frame">
      <SkipLink />
      <header>
        <Link href="/" className="brand">
          <Brand />
        </Link>
        <span className="settings row">
          <Settings />
          <Action isSmall onPress={() => leave(() => signOut('asked'))}>
            {texts.signOut}
          </Action>
        </span>
      </header>
      <Navigation
        links={[
          { to: '/', text: texts.pages.environments, icon: 'model' },
          { to: '/~/operations', text: texts.pages.operations, icon: 'operations' },
          { to: '/~/operations/keys', text: texts.pages.keys, icon: 'key' },
        ]}
      />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
