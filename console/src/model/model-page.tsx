/** Layout of the model pages: tabs for all model pages, and the content of one page below them. */
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { Page } from '../parts/page.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'

export function ModelPage({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <Page title={title} lead={lead} actions={actions}>
      <ModelTabs />
      {children}
    </Page>
  )
}

function ModelTabs() {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.tabs
  const [location] = useLocation()
  const tabs = [
    [environment.to('model'), texts.graph],
    [environment.to('model', 'matrix'), texts.matrix],
    [environment.to('model', 'sets'), texts.sets],
    [environment.to('model', 'file'), texts.file],
  ] as const
  const current = tabs.findLast(([to]) => location === to || location.startsWith(`${to}/`))?.[0]
  return (
    <nav className="tabs" aria-label={texts.label}>
      {tabs.map(([to, text]) => (
        <Link key={to} href={to} aria-current={to === current ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  )
}
