/** Navigation links, with the current one marked. */
import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useTexts } from '../texts/texts.tsx'
import { Icon, type IconName } from './icons.tsx'

interface Destination {
  readonly to: string
  readonly text: string
  readonly icon: IconName
}

export function Navigation({ links }: { readonly links: readonly Destination[] }) {
  const [path] = useLocation()
  // If several links match the address, the longest one is the current link.
  const [current] = links
    .filter(({ to }) => path === to || path.startsWith(`${to}/`))
    .toSorted((one, other) => other.to.length - one.to.length)
  const { shell } = useTexts()
  const bar = useRef<HTMLElement>(null)
  // On a narrow screen, the links are in a row that can be scrolled. The current link is scrolled into view.
  useEffect(() => {
    const link = bar.current?.querySelector('[aria-current=page]')
    if (!bar.current || !link) return
    const [around, at] = [bar.current.getBoundingClientRect(), link.getBoundingClientRect()]
    bar.current.scrollLeft += at.left + at.width / 2 - (around.left + around.width / 2)
  }, [current?.to, shell])
  return (
    <nav ref={bar} aria-label={shell.navigation}>
      <ul>
        {links.map(({ to, text, icon }) => (
          <li key={to}>
            <Link href={to} {...(to === current?.to ? { 'aria-current': 'page' } : {})}>
              <Icon name={icon} />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
