/**
 * Page about the health of the service. It shows the current state, all nodes, and plots of the last minutes.
 */
import { lazy, Suspense } from 'react'
import { Page } from '../parts/page.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { useTexts } from '../texts/texts.tsx'
import { NodesCard } from './nodes-card.tsx'
import { NowCard } from './now-card.tsx'

/** Loaded lazily, because it includes the plotting library. */
const RecentCard = lazy(() => import('./plots/recent-card.tsx'))

export function OperationsPage() {
  const texts = useTexts()
  return (
    <Page title={texts.shell.pages.operations} lead={texts.operations.lead}>
      <NowCard />
      <NodesCard />
      <Suspense fallback={<Skeleton />}>
        <RecentCard />
      </Suspense>
    </Page>
  )
}
