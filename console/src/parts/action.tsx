/** Controls: buttons that perform an action, and links. */
import type { ReactNode } from 'react'
import { Button, type ButtonProps } from 'react-aria-components/Button'
import { Link } from 'wouter'

export interface ActionLook {
  /**
   * `primary`: the main action of a page. `danger`: an action that deletes or revokes something. `quiet`: an
   * action next to the item that it affects.
   */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet' | 'quiet danger'
  readonly isSmall?: boolean
}

export function Action({
  kind = 'plain',
  isSmall = false,
  children,
  ...rest
}: ActionLook & Omit<ButtonProps, 'className' | 'style'>) {
  return (
    <Button {...rest} className={lookOf(kind, isSmall)}>
      {children}
    </Button>
  )
}

export function ActionLink({
  kind = 'plain',
  isSmall = false,
  to,
  label,
  children,
}: ActionLook & {
  readonly to: string
  /** Name for screen readers. Needed if it differs from the visible text. */
  readonly label?: string
  readonly children: ReactNode
}) {
  return (
    <Link href={to} className={lookOf(kind, isSmall)} aria-label={label}>
      {children}
    </Link>
  )
}

function lookOf(kind: string, isSmall: boolean): string {
  return `action ${kind}${isSmall ? ' small' : ''}`
}
