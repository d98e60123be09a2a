/** Dialog that assigns a role of a limited grant to a user, who is typed. */
import { useState } from 'react'
import { answerOf, service } from '../interface/client.ts'
import type { End } from '../interface/granted.ts'
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput } from '../parts/ends.tsx'
import { Choice, TextInput } from '../parts/fields.tsx'
import { useWrite } from '../parts/writes.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'

const ADDRESS = '/v2/facts/{proj_id}/{env_id}/role_assignments'

export function AssignRole({
  tenant,
  roles,
}: {
  readonly tenant: string
  readonly roles: readonly string[]
}) {
  const texts = useTexts().assignments
  const { path } = useCurrentEnvironment()
  const write = useWrite()
  const [user, setUser] = useState('')
  const [chosen, setChosen] = useState(roles[0] ?? '')
  const [instance, setInstance] = useState('')
  const [end, setEnd] = useState<End>(null)
  const [type, role] = chosen.includes('#') ? (chosen.split('#', 2) as [string, string]) : [null, chosen]
  const object = type === null ? null : `${type}:${instance}`
  const body = { user, role, ...(object === null ? { tenant } : { resource_instance: object }) }
  const what = texts.what(role, object ?? tenant)
  const errors = (problem: unknown) => ({
    user: errorAbout(problem, 'user', user),
    instance: errorAbout(problem, 'resource_instance', object ?? ''),
    end: errorAbout(problem, 'expires_at', ''),
  })
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.assign}
      triggerLook={{ kind: 'primary' }}
      title={texts.assign}
      sentence={texts.assignSentence(user, what)}
      submit={texts.assign}
      isReady={user !== '' && role !== '' && (type === null || instance !== '')}
      onOpen={() => {
        setUser('')
        setInstance('')
        setEnd(null)
      }}
      isShownAtField={problem => Object.values(errors(problem)).some(each => each !== null)}
      onSubmit={() =>
        write({
          make: () =>
            answerOf(service.POST(ADDRESS, { params: { path }, body: { ...body, expires_at: end } })),
          message: texts.assigned(user, what),
          undo: () => answerOf(service.DELETE(ADDRESS, { params: { path }, body })),
        })
      }
    >
      {problem => (
        <>
          <TextInput
            label={texts.user}
            description={texts.userHelp}
            value={user}
            onChange={setUser}
            isRequired
            autoFocus
            problem={errors(problem).user}
          />
          <Choice
            label={texts.role}
            value={chosen}
            onChange={setChosen}
            options={roles.map(id => ({ id }))}
          />
          {type === null ? null : (
            <TextInput
              label={texts.instance(type)}
              value={instance}
              onChange={setInstance}
              isRequired
              problem={errors(problem).instance}
            />
          )}
          <EndInput onChange={setEnd} problem={errors(problem).end} />
        </>
      )}
    </ActionDialog>
  )
}

/** Error about a field: it names the field, or it quotes the typed text. Null if there is none. */
function errorAbout(problem: unknown, field: string, typed: string): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  const named = problem.about(field)
  if (named !== null) return named
  return typed !== '' && problem.message.includes(JSON.stringify(typed)) ? problem : null
}
