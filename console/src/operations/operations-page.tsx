/** How the service is: now, node by node, and in the last minutes. */
import { lazy, Suspense } from 'react'
import { Page } from '../parts/page.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { useTexts } from '../texts/texts.tsx'
import { NodesCard } from './nodes-card.tsx'
import { NowCard } from './now-card.tsx'

/** With the library that plots. */
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
