/** Sessions of a member, each with an action that ends it. */
import { useQueryClient } from '@tanstack/react-query'
import { answerOf, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { focusHeading, useFocusAfterRemoval } from '../parts/focus.ts'
import { Badge } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { notify } from '../parts/toasts.tsx'
import { useSpoken } from '../texts/texts.tsx'
import { browserName } from './browser-name.ts'
import { type Session, SESSIONS } from './member-reads.ts'

/**
 * Sessions of a member: the current one first, then by last use. A member has at most 10 sessions, so one
 * page contains all.
 */
export function useSessions(member: string) {
  return usePages([SESSIONS, member], async (page, signal) => {
    const query = { ...page, member_id: member }
    const { data, ...rest } = await answerOf(service.GET('/v2/sessions', { params: { query }, signal }))
    const sorted = data.toSorted(
      (one, other) =>
        Number(other.is_current) - Number(one.is_current) ||
        other.last_used_at.localeCompare(one.last_used_at),
    )
    return { ...rest, data: sorted }
  })
}

export function endOne(id: string): Promise<unknown> {
  return answerOf(service.DELETE('/v2/sessions/{session_id}', { params: { path: { session_id: id } } }))
}

export function SessionList({ member, label }: { readonly member: string; readonly label: string }) {
  const { texts, moment } = useSpoken()
  const labels = texts.account
  const pages = useSessions(member)
  return (
    <PagedTable
      label={label}
      pages={pages}
      rowKey={({ id }: Session) => id}
      empty={labels.noSessions}
      columns={[
        {
          id: 'browser',
          header: labels.browser,
          cell: ({ user_agent: agent, is_current: isCurrent }) => (
            <span className="row">
              <span className="key" title={agent ?? undefined}>
                {browserName(agent, labels)}
              </span>
              {isCurrent ? <Badge kind="accent">{labels.current}</Badge> : null}
            </span>
          ),
        },
        { id: 'begun', header: labels.signedIn, cell: ({ signed_in_at: at }) => moment(at) },
        { id: 'used', header: labels.lastUsed, cell: ({ last_used_at: at }) => moment(at) },
        { id: 'ends', header: labels.ends_at, cell: ({ expires_at: at }) => moment(at) },
        {
          id: 'actions',
          header: texts.members.actions,
          isActions: true,
          cell: session => (session.is_current ? null : <EndSession session={session} />),
        },
      ]}
    />
  )
}

function EndSession({
  session: { id, user_agent: agent, signed_in_at: begun },
}: {
  readonly session: Session
}) {
  const { texts: all, moment } = useSpoken()
  const texts = all.account
  useFocusAfterRemoval(focusHeading)
  const queries = useQueryClient()
  const browser = texts.sessionOf(browserName(agent, texts), moment(begun))
  return (
    <ActionDialog
      needs="no_access"
      trigger={texts.end}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={texts.endOf(browser)}
      title={texts.endOf(browser)}
      sentence={texts.endSentence(browser)}
      submit={texts.end}
      isDanger
      onSubmit={async () => {
        await endOne(id)
        notify(texts.ended)
        await queries.invalidateQueries({ queryKey: [SESSIONS] })
      }}
    />
  )
}
