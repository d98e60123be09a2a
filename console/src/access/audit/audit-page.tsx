/** The audit log of the environment, newest first: what was changed, by which API key, and when. */
import { KeyInput, TextInput } from '../../parts/fields.tsx'
import { isoDateTime, localDateTime } from '../../parts/date-time.ts'
import { Page } from '../../parts/page.tsx'
import { useHasMembers } from '../../shell/pages-of.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useFilters, useTyped } from '../address.ts'
import { FilterForm } from '../filter-form.tsx'
import { AUDIT_FILTERS, type AuditFilters, NO_FILTERS } from './audit-filters.ts'
import { AuditList } from './audit-list.tsx'
import { keysLike, useReadsKeys } from './keys.ts'
import { membersLike } from './members.ts'
import { operationsLike } from './operations.ts'
import { SubjectInput } from './subject-input.tsx'

export default function AuditPage() {
  const texts = useTexts()
  const labels = texts.access.audit
  const environment = useCurrentEnvironment()
  const readsKeys = useReadsKeys()
  const hasMembers = useHasMembers()
  const [asked, show] = useFilters('audit', AUDIT_FILTERS)
  const [typed, type] = useTyped(asked)
  return (
    <Page title={labels.title} lead={labels.lead}>
      <FilterForm label={labels.form} onShow={() => show(whole(typed))} onClear={() => show(NO_FILTERS)}>
        <KeyInput
          label={labels.operation}
          placeholder={labels.everything}
          value={typed.operation}
          onChange={type('operation')}
          queryKey={['operations', texts.access.audit.title]}
          load={operationsLike(texts)}
        />
        <SubjectInput kind={typed.about} name={typed.named} onKind={type('about')} onName={type('named')} />
        <KeyInput
          label={labels.key}
          placeholder={labels.everyKey}
          value={typed.key}
          onChange={type('key')}
          queryKey={environment.key('none', 'keys', readsKeys)}
          load={keysLike(readsKeys, labels)}
        />
        <TextInput label={labels.claimedActor} value={typed.actor} onChange={type('actor')} />
        {hasMembers ? (
          <KeyInput
            label={labels.member}
            placeholder={labels.everyMember}
            value={typed.member}
            onChange={type('member')}
            queryKey={['members', 'like']}
            load={membersLike}
          />
        ) : null}
        <TextInput label={labels.request} value={typed.request} onChange={type('request')} />
        <MomentInput label={labels.since} value={typed.since} onChange={type('since')} />
        <MomentInput label={labels.until} value={typed.until} onChange={type('until')} />
      </FilterForm>
      <AuditList asked={asked} />
    </Page>
  )
}

/**
 * Removes the kind of entity if no name is given. A kind alone filters nothing, so it must not look like an
 * active filter.
 */
function whole(typed: AuditFilters): AuditFilters {
  return typed.named === '' ? { ...typed, about: '' } : typed
}

/**
 * Input for a date and time in the time zone of the browser. `value` has the format of RFC 3339, which is
 * also used in the address and in API requests.
 */
function MomentInput({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <TextInput
      label={label}
      type="datetime-local"
      value={localDateTime(value)}
      onChange={local => onChange(isoDateTime(local))}
    />
  )
}
