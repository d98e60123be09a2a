/** Frame around pages that are not about an environment. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { includes, useHeld, useManagesKeys } from '../session/held.ts'
import { useSession } from '../session/session.ts'
import { SessionNotice } from '../session/session-notice.tsx'
import { AccountLink, SignOut } from '../session/sign-out.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Brand } from './brand.tsx'
import { MEMBERS } from './links.ts'
import { Navigation } from './navigation.tsx'
import { useHasMembers } from './pages-of.ts'
import { Settings } from './settings.tsx'
import { SkipLink } from './skip-link.tsx'

export function PlainFrame({ children }: { readonly children: ReactNode }) {
  const texts = useTexts().shell
  const held = useHeld(null)
  const isKey = useSession().kind === 'key'
  const manages = useManagesKeys() === true
  const hasMembers = useHasMembers()
  return (
    <div className="frame">
      <SkipLink />
      <header>
        <Link href="/" className="brand">
          <Brand />
        </Link>
        <span className="settings row">
          <Settings />
          <AccountLink />
          <SignOut />
        </span>
      </header>
      <Navigation
        links={[
          { to: '/', text: texts.pages.environments, icon: 'model' },
          // A member whose grants are limited to tenants sees no nodes.
          ...(held !== null && includes(held.level, 'read')
            ? [{ to: '/~/operations', text: texts.pages.operations, icon: 'operations' as const }]
            : []),
          ...(isKey || manages
            ? [{ to: '/~/operations/keys', text: texts.pages.keys, icon: 'key' as const }]
            : []),
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
