/** Things to press: a button that does something, a link that leads somewhere. */
import type { ReactNode } from 'react'
import { Button, type ButtonProps } from 'react-aria-components/Button'
import { Link } from 'wouter'

export interface ActionLook {
  /** `primary`: what most people came for; `danger`: takes something away; `quiet`: beside a thing it is about. */
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
  /** What is heard, where that is more than what is shown. */
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
