/** Navigation between the members and the groups of the issuer. */
import { Link } from 'wouter'
import { MEMBERS } from '../shell/links.ts'
import { useTexts } from '../texts/texts.tsx'

export function MemberTabs({ current }: { readonly current: 'members' | 'groups' }) {
  const labels = useTexts().members.tabs
  return (
    <nav className="tabs" aria-label={labels.label}>
      {(['members', 'groups'] as const).map(view => (
        <Link
          key={view}
          href={view === 'members' ? MEMBERS : `${MEMBERS}/groups`}
          {...(view === current ? { 'aria-current': 'page' as const } : {})}
        >
          {labels[view]}
        </Link>
      ))}
    </nav>
  )
}
