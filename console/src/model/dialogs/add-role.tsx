/** A new role, on a type or, with `type` null, in tenants. */
import { useState } from 'react'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addRole, removeRole } from '../model-writes.ts'
import { Check } from '../check.tsx'
import { aboutKey } from './key-problem.ts'

/** `actions`: those of the type, to be given from the start. */
export function AddRole({
  type,
  actions = [],
  look = { kind: 'quiet', isSmall: true },
}: {
  readonly type: string | null
  readonly actions?: readonly string[]
  readonly look?: { readonly kind: 'quiet' | 'plain'; readonly isSmall?: boolean }
}) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const write = useWrite()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const [given, setGiven] = useState<readonly string[]>([])
  return (
    <ActionDialog
      trigger={texts.addRole.open}
      triggerLook={look}
      title={type === null ? texts.addRole.tenantTitle : texts.addRole.title(type)}
      sentence={
        type === null
          ? texts.addRole.tenantSentence(key)
          : texts.addRole.sentence(key, type, given.join(', '))
      }
      submit={texts.add}
      onOpen={() => {
        setKey('')
        setName('')
        setGiven([])
      }}
      isSaidBeside={problem => aboutKey(problem) !== null}
      onSubmit={() => {
        let made: string | null = null
        const body = { key, name: name === '' ? key : name, permissions: [...given] }
        return write({
          make: async () => {
            made = await addRole(path, type, body)
          },
          said: texts.addRole.said(key),
          undo: () => removeRole(path, type, key, made),
        })
      }}
    >
      {problem => (
        <>
          <TextInput
            label={texts.key}
            value={key}
            onChange={setKey}
            description={texts.keyHelp}
            problem={aboutKey(problem)}
            isRequired
            autoFocus
          />
          <TextInput
            label={texts.name}
            value={name}
            onChange={setName}
            problem={problem instanceof Problem ? problem.about('name') : null}
          />
          {actions.length === 0 ? null : (
            <fieldset className="checks-of">
              <legend>{texts.addRole.may}</legend>
              <div className="row">
                {actions.map(action => (
                  <Check
                    key={action}
                    isOn={given.includes(action)}
                    onChange={isOn =>
                      setGiven(now => (isOn ? [...now, action] : now.filter(each => each !== action)))
                    }
                  >
                    {action}
                  </Check>
                ))}
              </div>
            </fieldset>
          )}
        </>
      )}
    </ActionDialog>
  )
}
