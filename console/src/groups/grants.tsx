/** List of the roles that are granted to a group directly. Each role is granted on an instance. */
import { useState } from 'react'
import type { End } from '../interface/granted.ts'
import type { Pages } from '../interface/pages.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput, EndText } from '../parts/ends.tsx'
import { KeyInput } from '../parts/fields.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useDebounced } from '../parts/debounce.ts'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import { useCompletions } from './completions.ts'
import { EndDialog } from './end-dialog.tsx'
import { granting, ConflictNote, useSeen } from './granting.tsx'
import {
  type Granted,
  type Group,
  type GroupRole,
  objectOf,
  referenceOf,
  useGroupCalls,
} from './group-calls.ts'
import { Part, type PartOfGroup } from './part.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { fieldErrorOf, useUntil } from './field-errors.ts'

export function Grants({
  group,
  heading,
  onGone,
  pages,
}: PartOfGroup & { readonly pages: Pages<GroupRole> }) {
  const all = useTexts()
  const texts = all.groups
  const calls = useGroupCalls()
  const name = referenceOf(group)
  return (
    <Part
      heading={heading}
      title={texts.parts.roles}
      lead={texts.rolesLead}
      action={<GrantRole group={group} />}
    >
      <PagedTable
        label={texts.rolesOf(name)}
        pages={pages}
        rowKey={role => `${role.key} ${role.resource_instance.id}`}
        empty={texts.noRoles}
        columns={[
          { id: 'role', header: texts.role, cell: ({ key }) => key },
          { id: 'on', header: texts.on, cell: role => <code>{objectOf(role)}</code> },
          { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
          {
            id: 'actions',
            header: texts.actions,
            isActions: true,
            cell: role => {
              const object = objectOf(role)
              const granted = {
                what: texts.roleOn(role.key, object),
                end: role.expires_at ?? null,
                grant: calls.granted(group, grantedOf(role)),
              }
              return (
                <>
                  <EndDialog {...granted} />
                  <RemoveDialog
                    {...granted}
                    label={texts.removeRole(role.key, object)}
                    sentence={texts.removeRoleSentence(role.key, object, name)}
                    message={texts.roleRemoved(role.key, object, name)}
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

function grantedOf({ key, resource, resource_instance: instance }: GroupRole): Granted {
  return { role: key, type: resource.key, instance: instance.key }
}

function GrantRole({ group }: { readonly group: Group }) {
  const texts = useTexts().groups
  const calls = useGroupCalls()
  const write = useWrite()
  const until = useUntil()
  const completions = useCompletions()
  const [granted, setGranted] = useState<Granted>(NOTHING)
  const [end, setEnd] = useState<End>(null)
  const [sent, setSent] = useState<Granted>(NOTHING)
  const { type, role, instance } = granted
  const debouncedType = useDebounced(type)
  const name = referenceOf(group)
  const object = `${type}:${instance}`
  const seen = useSeen()
  const what = texts.roleOn(role, object)
  const grant = async (): Promise<void> => {
    setSent(granted)
    await calls.requireInstance(type, instance)
    const before = seen.endOf(what)
    const message =
      before === undefined
        ? texts.roleGranted(role, object, name, until(end))
        : texts.endChanged(what, until(end))
    await seen.noting(what, write({ ...granting(calls.granted(group, granted), end, before), message }))
  }
  const errorsOf = (problem: unknown) => ({
    type: fieldErrorOf(problem, 'resource', sent.type),
    role: fieldErrorOf(problem, 'role', sent.role),
    instance:
      fieldErrorOf(problem, 'resource_instance', sent.instance) ??
      fieldErrorOf(problem, '', `${sent.type}:${sent.instance}`),
    end: fieldErrorOf(problem, 'expires_at'),
  })
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.grantRole}
      triggerLook={{ kind: 'primary' }}
      title={texts.grantRole}
      sentence={texts.grantSentence(role, type === '' ? '' : object, name, until(end))}
      submit={texts.grantSubmit}
      onOpen={() => {
        setGranted(NOTHING)
        setEnd(null)
        seen.forget()
      }}
      isShownAtField={problem => Object.values(errorsOf(problem)).some(each => each !== null)}
      onSubmit={grant}
    >
      {problem => (
        <>
          <KeyInput
            label={texts.type}
            value={type}
            onChange={typed => setGranted({ ...granted, type: typed })}
            isRequired
            autoFocus
            problem={errorsOf(problem).type}
            {...completions.types}
          />
          <KeyInput
            label={texts.role}
            value={role}
            onChange={typed => setGranted({ ...granted, role: typed })}
            isRequired
            problem={errorsOf(problem).role}
            {...completions.roles(debouncedType)}
          />
          <KeyInput
            label={texts.instance}
            value={instance}
            onChange={typed => setGranted({ ...granted, instance: typed })}
            isRequired
            problem={errorsOf(problem).instance}
            {...completions.instances(debouncedType, group.group_tenant)}
          />
          <EndInput onChange={setEnd} problem={errorsOf(problem).end} />
          <ConflictNote seen={seen} what={what} />
        </>
      )}
    </ActionDialog>
  )
}

const NOTHING: Granted = { type: '', role: '', instance: '' }
