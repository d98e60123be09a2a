/** Page about the member who is signed in: the person, the grants and the sessions. */
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Redirect } from 'wouter'
import { ActionDialog } from '../parts/dialogs.tsx'
import { focusHeading, useFocusAfterRemoval } from '../parts/focus.ts'
import { Card, Page } from '../parts/page.tsx'
import { notify } from '../parts/toasts.tsx'
import type { Account } from '../session/account.ts'
import { useAccount } from '../session/session.ts'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { GrantList, GrantsCut } from './grant-list.tsx'
import { SESSIONS } from './member-reads.ts'
import { endOne, SessionList, useSessions } from './session-list.tsx'

export default function AccountPage() {
  const texts = useTexts().account
  const account = useAccount()
  // A key has no account.
  if (account === null) return <Redirect to="/" replace />
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Card title={texts.person}>
        <Person account={account} />
      </Card>
      <Card title={texts.grants}>
        <p className="soft small">{texts.grantsLead}</p>
        <GrantList grants={account.grants} />
        <GrantsCut areCut={account.grants_cut} />
      </Card>
      <Card title={texts.sessions} actions={<EndOthers member={account.member.id} />}>
        <p className="soft small">{texts.sessionsLead}</p>
        <SessionList member={account.member.id} label={texts.sessions} />
      </Card>
    </Page>
  )
}

function Person({
  account: { member, groups, groups_cut: areGroupsCut, signed_in_at: begun, expires_at: ends },
}: {
  readonly account: Account
}) {
  const { texts, moment } = useSpoken()
  const labels = texts.account
  return (
    <>
      <dl className="facts">
        <Fact name={labels.name} value={member.name} />
        <Fact name={labels.email} value={member.email} />
        <Fact name={labels.issuer} value={member.issuer} />
        <Fact name={labels.subject} value={<code>{member.subject}</code>} />
        <Fact name={labels.groups} value={groups.join(', ')} />
        <Fact name={labels.signedIn} value={moment(begun)} />
        <Fact name={labels.expires} value={moment(ends)} />
      </dl>
      {areGroupsCut ? <p className="note warn">{labels.groupsCut}</p> : null}
    </>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  if (!value) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd className="key">{value}</dd>
    </div>
  )
}

function EndOthers({ member }: { readonly member: string }) {
  const texts = useTexts().account
  const queries = useQueryClient()
  useFocusAfterRemoval(focusHeading)
  const others = useSessions(member).items.filter(({ is_current: isCurrent }) => !isCurrent)
  if (others.length === 0) return null
  return (
    <ActionDialog
      needs="no_access"
      trigger={texts.endOthers}
      triggerLook={{ kind: 'danger', isSmall: true }}
      title={texts.endOthers}
      sentence={texts.endOthersSentence}
      submit={texts.endOthers}
      isDanger
      onSubmit={async () => {
        for (const { id } of others) await endOne(id)
        notify(texts.othersEnded)
        await queries.invalidateQueries({ queryKey: [SESSIONS] })
      }}
    />
  )
}
