/** A new type of things. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addType, removeType } from '../model-writes.ts'
import { aboutKey } from './key-problem.ts'

export function AddType() {
  const texts = useTexts().model.graph
  const place = usePlace()
  const write = useWrite()
  const [, go] = useLocation()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const [actions, setActions] = useState('')
  const keys = actions.split(/[\s,]+/).filter(action => action !== '')
  return (
    <ActionDialog
      trigger={texts.addType.open}
      triggerLook={{ kind: 'primary' }}
      title={texts.addType.title}
      sentence={texts.addType.sentence(key, keys.join(', '))}
      submit={texts.add}
      onOpen={() => [setKey, setName, setActions].forEach(set => set(''))}
      isSaidBeside={problem => aboutKey(problem) !== null}
      onSubmit={async () => {
        let made: string | null = null
        await write({
          make: async () => {
            made = await addType(place.path, {
              key,
              name: name === '' ? key : name,
              actions: Object.fromEntries(keys.map(action => [action, {}])),
            })
          },
          said: texts.addType.said(key),
          undo: () => removeType(place.path, key, made),
        })
        go(place.to('model', 'types', key))
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
          <TextInput
            label={texts.actions}
            value={actions}
            onChange={setActions}
            description={texts.addType.actionsHelp}
            problem={problem instanceof Problem ? problem.about('actions') : null}
          />
        </>
      )}
    </ActionDialog>
  )
}
