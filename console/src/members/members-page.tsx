/** List of the members whose grants touch those of the session. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { useDebounced } from '../parts/debounce.ts'
import { SearchInput } from '../parts/fields.tsx'
import { Badge, Card, Page } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { type Grant, nameOfMember } from '../session/account.ts'
import { useAdministers } from '../session/held.ts'
import { useAccount } from '../session/session.ts'
import { useSignInWays } from '../session/use-ways.ts'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { GrantDialog, RemovalDialog } from './grant-dialogs.tsx'
import { GrantList, GrantsCut } from './grant-list.tsx'
import { asSent, grantWords } from './grant-words.ts'
import { InviteAgain, InviteMember } from './invite-member.tsx'
import { type Member, MEMBER, MEMBERS, type Permission, requireSeen, subjectOf } from './member-reads.ts'
import { MemberTabs } from './member-tabs.tsx'
import { SessionList } from './session-list.tsx'

export function MembersPage() {
  const { texts, moment } = useSpoken()
  const labels = texts.members
  const { data: ways } = useSignInWays()
  const [search, setSearch] = useState('')
  const debounced = useDebounced(search).trim()
  const pages = usePages([MEMBERS, debounced], (page, signal) => {
    const query = { ...page, ...(debounced === '' ? {} : { search: debounced }) }
    return answerOf(service.GET('/v2/members', { params: { query }, signal }))
  })
  return (
    <Page title={labels.title} lead={labels.lead} actions={<InviteMember />}>
      <MemberTabs current="members" />
      {ways?.oidc === null ? <p className="note">{labels.off}</p> : null}
      <Card>
        <SearchInput label={labels.search} value={search} onChange={setSearch} />
        <PagedTable
          label={labels.list}
          pages={pages}
          rowKey={({ id }: Member) => id}
          empty={debounced === '' ? labels.none : labels.noneFound}
          columns={[
            { id: 'person', header: labels.person, cell: member => <Person member={member} /> },
            { id: 'grants', header: labels.grants, cell: ({ grants }) => <GrantList grants={grants} /> },
            {
              id: 'last',
              header: labels.lastSignIn,
              cell: ({ last_login: at }) => (at ? moment(at) : <span className="soft">{labels.never}</span>),
            },
          ]}
          detail={{
            trigger: labels.open,
            label: member => labels.openOf(shownName(member)),
            content: member => <MemberDetail member={member} />,
          }}
        />
      </Card>
    </Page>
  )
}

/** The best known name of a member. */
function shownName(member: Member): string {
  return nameOfMember({ name: member.name, email: member.email, subject: subjectOf(member) })
}

function Person({ member }: { readonly member: Member }) {
  const { texts, moment } = useSpoken()
  const labels = texts.members
  const isOwn = useAccount()?.member.id === member.id
  const name = shownName(member)
  const { email, invite } = member
  return (
    <span className="stack tight person">
      <span className="row">
        <span className="key">{name}</span>
        {isOwn ? <Badge kind="accent">{labels.you}</Badge> : null}
        {invite ? (
          <Badge kind="warn">
            {Date.parse(invite.expires_at) < Date.now()
              ? labels.invitationExpired
              : labels.invitationUntil(moment(invite.expires_at))}
          </Badge>
        ) : null}
      </span>
      {email && email !== name ? <span className="soft key key-id">{email}</span> : null}
    </span>
  )
}

/** Grants of a member with the actions on them, and the sessions. A member cannot change the own grants. */
function MemberDetail({ member }: { readonly member: Member }) {
  const texts = useTexts().members
  const queries = useQueryClient()
  const isOwn = useAccount()?.member.id === member.id
  const administers = useAdministers()
  const name = shownName(member)
  const { id } = member
  const reload = (): void => void queries.invalidateQueries({ queryKey: [MEMBERS] })
  const change = async (permission: Permission): Promise<void> => {
    await requireSeen(member)
    await answerOf(service.POST('/v2/members', { body: { id, permissions: [permission] } }))
  }
  const revoke = async (grant: Grant): Promise<void> => {
    await requireSeen(member)
    await answerOf(service.DELETE('/v2/members', { body: { id, permissions: [asSent(grant)] } }))
  }
  const remove = async (): Promise<void> => {
    const params = { path: { member_id: id }, header: await requireSeen(member) }
    await answerOf(service.DELETE(MEMBER, { params }))
  }
  return (
    <div className="stack">
      <GrantList
        grants={member.grants}
        action={grant =>
          isOwn || grant.via !== 'own' || !administers(grant) ? null : (
            <RemovalDialog
              trigger={texts.revoke}
              label={texts.revokeOf(grantWords(grant, texts), name)}
              sentence={texts.revokeSentence(name, grantWords(grant, texts))}
              message={texts.revoked(name)}
              onRemove={() => revoke(grant)}
              onClose={reload}
            />
          )
        }
      />
      <GrantsCut areCut={member.grants_cut === true} />
      {isOwn ? null : (
        <div className="row">
          <GrantDialog
            name={name}
            sentence={texts.grantSentence}
            message={texts.granted(name)}
            onGrant={change}
            onClose={reload}
          />
          {member.invite ? <InviteAgain member={member} name={name} /> : null}
          <RemovalDialog
            trigger={texts.remove}
            label={texts.removeOf(name)}
            sentence={texts.removeSentence(name)}
            message={texts.removed(name)}
            onRemove={remove}
            onClose={reload}
          />
        </div>
      )}
      {member.invite || isOwn ? null : <SessionsOf member={id} name={name} />}
    </div>
  )
}

/** Sessions of another member, which owners of the organization see. */
function SessionsOf({ member, name }: { readonly member: string; readonly name: string }) {
  const texts = useTexts().members
  const account = useAccount()
  const isOwner =
    account === null ||
    account.grants.some(({ object_type: kind, access_level: level }) => kind === 'org' && level === 'admin')
  if (!isOwner) return null
  return (
    <section className="stack tight" aria-label={texts.sessionsOf(name)}>
      <h2>{texts.sessions}</h2>
      <SessionList member={member} label={texts.sessionsOf(name)} />
    </section>
  )
}
