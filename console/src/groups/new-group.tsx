/** Dialog that creates a group. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { KeyInput, TextInput } from '../parts/fields.tsx'
import { useWrite } from '../parts/writes.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useCompletions } from './completions.ts'
import { type GroupCalls, referenceOf, useGroupCalls } from './group-calls.ts'
import { fieldErrorOf } from './field-errors.ts'

const FIRST_TENANT = 'default'

export function NewGroup() {
  const texts = useTexts().groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const write = useWrite()
  const { tenants } = useCompletions()
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const [tenant, setTenant] = useState(FIRST_TENANT)
  const [sent, setSent] = useState({ name, tenant })
  const keyError = (problem: unknown): FieldProblem | null =>
    fieldErrorOf(problem, 'group_instance_key', sent.name.includes(':') ? sent.name : `group:${sent.name}`)
  const tenantError = (problem: unknown): FieldProblem | null =>
    fieldErrorOf(problem, 'group_tenant', sent.tenant)
  return (
    <ActionDialog
      needs="write_facts"
      trigger={texts.newGroup}
      title={texts.newGroup}
      sentence={texts.newSentence(name, tenant)}
      submit={texts.create}
      onOpen={() => setName('')}
      isShownAtField={problem => keyError(problem) !== null || tenantError(problem) !== null}
      onSubmit={async () => {
        setSent({ name, tenant })
        let made = name
        await write({
          make: async () => {
            made = referenceOf(await calls.create(name, tenant))
          },
          message: texts.created(name),
          undo: async () => {
            const tag = await tagOfEmpty(calls, made)
            go(environment.to('groups'))
            await calls.remove(made, tag)
          },
        })
        go(environment.to('groups', made))
      }}
    >
      {problem => (
        <>
          <TextInput
            label={texts.key}
            description={texts.keyHelp}
            value={name}
            onChange={setName}
            isRequired
            autoFocus
            problem={keyError(problem)}
          />
          <KeyInput
            label={texts.tenant}
            value={tenant}
            onChange={setTenant}
            isRequired
            problem={tenantError(problem)}
            {...tenants}
          />
        </>
      )}
    </ActionDialog>
  )
}

/**
 * The `ETag` that the new group must have when an undo deletes it. The tag changes with members and roles.
 * Rejects if another user has changed the group in the meantime: added a member, granted it a role or nested
 * it.
 */
async function tagOfEmpty(calls: GroupCalls, group: string): Promise<string | null> {
  const first = { page: 1, per_page: 1 } as const
  const { value, tag } = await calls.readWhole(group)
  const links = await Promise.all([calls.children(group, first), calls.parents(group, first)])
  const isEmpty = value.users_count === 0 && value.assigned_roles_count === 0
  if (!isEmpty || links.some(({ data }) => data.length > 0)) throw Problem.stale()
  return tag
}
