/** To the log of one thing. */
import { ActionLink } from '../../parts/action.tsx'
import { viewAddress } from '../../shell/links.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { Subject } from './subjects.ts'

export function LogLink({
  about,
  named,
  isSmall = false,
  isNameShown = false,
}: {
  readonly about: Subject
  readonly named: string
  readonly isSmall?: boolean
  /** Absent: the page is called by the name. */
  readonly isNameShown?: boolean
}) {
  const said = useTexts().access.audit
  const label = said.logOf(named)
  return (
    <ActionLink
      to={viewAddress(usePlace(), 'audit', { about, named })}
      kind="quiet"
      isSmall={isSmall}
      label={label}
    >
      {isNameShown ? label : said.title}
    </ActionLink>
  )
}
