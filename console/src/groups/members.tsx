/** List of the direct members of a group. */
import { useState } from 'react'
import { Link } from 'wouter'
import type { End } from '../interface/granted.ts'
import type { Pages } from '../interface/pages.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput, EndText } from '../parts/ends.tsx'
import { KeyInput } from '../parts/fields.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useWrite } from '../parts/writes.ts'
import { escaped, USERS } from '../shell/address.ts'
import { useHeld } from '../session/held.ts'
import { isDelegate } from '../shell/pages-of.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useCompletions } from './completions.ts'
import { EndDialog } from './end-dialog.tsx'
import { granting, ConflictNote, useSeen } from './granting.tsx'
import { type Group, type Member, referenceOf, useGroupCalls } from './group-calls.ts'
import { Part, type PartOfGroup } from './part.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { fieldErrorOf, useUntil } from './field-errors.ts'

export function Members({ group, heading, onGone, pages }: PartOfGroup & { readonly pages: Pages<Member> }) {
  const all = useTexts()
  const texts = all.groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const isLimited = isDelegate(useHeld(environment))
  const name = referenceOf(group)
  return (
    <Part
      heading={heading}
      title={texts.parts.members}
      lead={texts.membersLead}
      action={<AddMember group={group} />}
    >
      <PagedTable
        label={texts.membersOf(name)}
        pages={pages}
        rowKey={({ id }) => id}
        empty={texts.noMembers}
        columns={[
          {
            id: 'user',
            header: texts.user,
            cell: ({ key }) =>
              isLimited ? (
                <span className="key">{key}</span>
              ) : (
                <Link href={`${environment.to('groups')}/${USERS}/${escaped(key)}`}>{key}</Link>
              ),
          },
          { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
          {
            id: 'actions',
            header: texts.actions,
            isActions: true,
            cell: ({ key, expires_at: end = null }) => {
              const granted = { what: texts.membership(key), end, grant: calls.membership(group, key) }
              return (
                <>
                  <EndDialog {...granted} />
                  <RemoveDialog
                    {...granted}
                    label={texts.removeMember(key)}
                    sentence={texts.removeMemberSentence(key, name)}
                    message={texts.memberRemoved(key, name)}
                    onGone={onGone}
                  />
                </>
              )
            },
          },
        ]}
      />
    </Part>
  )
}

function AddMember({ group }: { readonly group: Group }) {
  const texts = useTexts().groups
  const calls = useGroupCalls()
  const write = useWrite()
  const until = useUntil()
  const { users } = useCompletions()
  const [user, setUser] = useState('')
  const [end, setEnd] = useState<End>(null)
  // Text that was submitted last. The error is about this text, even if the user has typed another text since
  // then.
  const [sent, setSent] = useState('')
  const seen = useSeen()
  const name = referenceOf(group)
  const what = texts.membership(user)
  const add = async (): Promise<void> => {
    setSent(user)
    const before = seen.endOf(what)
    const message =
      before === undefined ? texts.memberAdded(user, name, until(end)) : texts.endChanged(what, until(end))
    await seen.noting(what, write({ ...granting(calls.membership(group, user), end, before), message }))
  }
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.addMember}
      triggerLook={{ kind: 'primary' }}
      title={texts.addMember}
      sentence={texts.addMemberSentence(user, name, until(end))}
      submit={texts.add}
      onOpen={() => {
        setUser('')
        setEnd(null)
        seen.forget()
      }}
      isShownAtField={problem =>
        fieldErrorOf(problem, 'user_id', sent) !== null || fieldErrorOf(problem, 'expires_at') !== null
      }
      onSubmit={add}
    >
      {problem => (
        <>
          <KeyInput
            label={texts.user}
            value={user}
            onChange={setUser}
            isRequired
            autoFocus
            problem={fieldErrorOf(problem, 'user_id', sent)}
            {...users}
          />
          <EndInput onChange={setEnd} problem={fieldErrorOf(problem, 'expires_at')} />
          <ConflictNote seen={seen} what={what} />
        </>
      )}
    </ActionDialog>
  )
}
