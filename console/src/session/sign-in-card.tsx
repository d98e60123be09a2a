/** Layout of the pages that a user sees before the sign-in. */
import type { ReactNode } from 'react'
import { Brand } from '../shell/brand.tsx'
import { Settings } from '../shell/settings.tsx'

export function SignInCard({ lead, children }: { readonly lead: ReactNode; readonly children: ReactNode }) {
  return (
    <main className="sign-in">
      <section className="card stack">
        <div className="stack tight">
          <h1>
            <Brand />
          </h1>
          <p className="soft">{lead}</p>
        </div>
        {children}
        <Settings />
      </section>
    </main>
  )
}
