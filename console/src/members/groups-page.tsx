/** Groups of the issuer whose members receive grants. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { TextInput } from '../parts/fields.tsx'
import { Card, Page } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { notify } from '../parts/toasts.tsx'
import type { Grant } from '../session/account.ts'
import { useAdministers } from '../session/held.ts'
import { useTexts } from '../texts/texts.tsx'
import { errorAbout } from './grant-draft.ts'
import { GrantDialog, RemovalDialog } from './grant-dialogs.tsx'
import { GrantFormDialog } from './grant-form-dialog.tsx'
import { GrantList } from './grant-list.tsx'
import { asSent, grantWords } from './grant-words.ts'
import { GROUP, type MemberGroup, GROUPS, onlyAsSeen, type Permission } from './member-reads.ts'
import { MemberTabs } from './member-tabs.tsx'

export function GroupsPage() {
  const texts = useTexts().members
  const labels = texts.groups
  const pages = usePages([GROUPS], (page, signal) =>
    answerOf(service.GET('/v2/member_groups', { params: { query: page }, signal })),
  )
  return (
    <Page title={texts.title} lead={labels.lead} actions={<AddGroup />}>
      <MemberTabs current="groups" />
      <Card>
        <PagedTable
          label={labels.list}
          pages={pages}
          rowKey={({ id }: MemberGroup) => id}
          empty={labels.none}
          columns={[
            { id: 'group', header: labels.group, cell: ({ group }) => <span className="key">{group}</span> },
            {
              id: 'grants',
              header: texts.grants,
              cell: group => <GrantsOf group={group} />,
            },
            {
              id: 'actions',
              header: texts.actions,
              isActions: true,
              cell: group => <Actions group={group} />,
            },
          ]}
        />
      </Card>
    </Page>
  )
}

/** Changes of a group. They reject if another user has changed the group since it was read. */
function useChanges(seen: MemberGroup) {
  const queries = useQueryClient()
  const { id, group } = seen
  const path = { member_group_id: id }
  const reload = (): void => void queries.invalidateQueries({ queryKey: [GROUPS] })
  const save = async (permissions: readonly Permission[]): Promise<void> => {
    const params = { path, header: await onlyAsSeen(seen) }
    await answerOf(service.PUT(GROUP, { params, body: { group, permissions: [...permissions] } }))
  }
  const remove = async (): Promise<void> => {
    const params = { path, header: await onlyAsSeen(seen) }
    await answerOf(service.DELETE(GROUP, { params }))
  }
  return { save, remove, reload }
}

function GrantsOf({ group }: { readonly group: MemberGroup }) {
  const texts = useTexts().members
  const { save, reload } = useChanges(group)
  const administers = useAdministers()
  const { group: name, permissions } = group
  return (
    <GrantList
      grants={permissions}
      action={grant =>
        permissions.length === 1 || !administers(grant) ? null : (
          <RemovalDialog
            trigger={texts.revoke}
            label={texts.revokeOf(grantWords(grant, texts), name)}
            sentence={texts.groups.revokeSentence(name, grantWords(grant, texts))}
            message={texts.groups.saved(name)}
            onRemove={() => save(permissions.filter(each => each !== grant).map(asSent))}
            onClose={reload}
          />
        )
      }
    />
  )
}

function Actions({ group }: { readonly group: MemberGroup }) {
  const texts = useTexts().members
  const { save, remove, reload } = useChanges(group)
  const administers = useAdministers()
  const { group: name, permissions } = group
  return (
    <span className="row">
      <GrantDialog
        name={name}
        sentence={texts.groups.grantSentence}
        message={texts.groups.saved(name)}
        onGrant={added =>
          save([...permissions.filter(each => !isSameObject(each, added)).map(asSent), added])
        }
        onClose={reload}
      />
      {permissions.some(administers) ? (
        <RemovalDialog
          trigger={texts.remove}
          label={texts.removeOf(name)}
          sentence={texts.groups.removeSentence(name)}
          message={texts.groups.removed(name)}
          onRemove={remove}
          onClose={reload}
        />
      ) : null}
    </span>
  )
}

/** Whether both are about one object. The user can have typed its id instead of its key. */
function isSameObject(stored: Grant, typed: Permission): boolean {
  return (
    stored.object_type === typed.object_type &&
    (!typed.project_id || [stored.project_id, stored.project_key].includes(typed.project_id)) &&
    (!typed.environment_id || [stored.environment_id, stored.environment_key].includes(typed.environment_id))
  )
}

function AddGroup() {
  const labels = useTexts().members.groups
  const queries = useQueryClient()
  const [group, setGroup] = useState('')
  return (
    <GrantFormDialog
      trigger={labels.add}
      triggerLook={{ kind: 'primary' }}
      title={labels.addTitle}
      sentence={(level, object) => labels.addSentence(group, level, object)}
      submit={labels.add}
      isReady={group !== ''}
      onOpen={() => setGroup('')}
      isShownAtField={problem => errorAbout(problem, 'group', [group]) !== null}
      onSubmit={async permission => {
        await answerOf(service.POST('/v2/member_groups', { body: { group, permissions: [permission] } }))
        notify(labels.added(group))
        await queries.invalidateQueries({ queryKey: [GROUPS] })
      }}
    >
      {problem => (
        <TextInput
          label={labels.group}
          description={labels.groupHelp}
          value={group}
          onChange={setGroup}
          isRequired
          autoFocus
          problem={errorAbout(problem, 'group', [group])}
        />
      )}
    </GrantFormDialog>
  )
}
