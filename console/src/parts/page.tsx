/** Layout of a page: title, introduction, actions and content. */
import { type ReactNode, useEffect, useRef } from 'react'

export function Page({
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
  const heading = useRef<HTMLHeadingElement>(null)
  // After navigation, moves the focus to the heading, so that screen readers continue there.
  useEffect(() => {
    document.title = `${title} · Verdict`
    if (document.activeElement === document.body || document.activeElement?.closest('nav'))
      heading.current?.focus()
  }, [title])
  return (
    <article className="page">
      <header>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p>{lead}</p>}
        </div>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </header>
      {children}
    </article>
  )
}

export function Card({
  title,
  actions,
  children,
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className="card">
      <div className="stack">
        {title === undefined ? null : (
          <div className="row apart">
            <h2>{title}</h2>
            {actions}
          </div>
        )}
        {children}
      </div>
    </section>
  )
}

export function Badge({
  kind,
  children,
}: {
  readonly kind?: 'allow' | 'deny' | 'warn' | 'accent'
  readonly children: ReactNode
}) {
  return <span className={`badge ${kind ?? ''}`}>{children}</span>
}
