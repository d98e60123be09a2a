/** Links to the audit log entries about one entity. */
import { ActionLink } from '../../parts/action.tsx'
import { viewAddress } from '../../shell/links.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
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
  /** False or absent: the link text does not contain the name, because the page title already does. */
  readonly isNameShown?: boolean
}) {
  const labels = useTexts().access.audit
  const label = labels.logOf(named)
  return (
    <ActionLink
      to={viewAddress(useCurrentEnvironment(), 'audit', { about, named })}
      kind="quiet"
      isSmall={isSmall}
      label={label}
    >
      {isNameShown ? label : labels.title}
    </ActionLink>
  )
}
