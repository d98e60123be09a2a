/** Tabs for the two views of access: by user and by resource. */
import { Link } from 'wouter'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { viewAddress } from '../shell/links.ts'

export function AccessTabs({ current }: { readonly current: 'users' | 'resources' }) {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  return (
    <nav className="tabs" aria-label={labels.tabs}>
      {(['users', 'resources'] as const).map(view => (
        <Link
          key={view}
          href={viewAddress(environment, view, {})}
          {...(view === current ? { 'aria-current': 'page' as const } : {})}
        >
          {labels[view].tab}
        </Link>
      ))}
    </nav>
  )
}
