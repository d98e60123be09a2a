/** A new action of a type. */
import { useState } from 'react'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addAction, removeAction } from '../model-writes.ts'
import { aboutKey } from './key-problem.ts'

export function AddAction({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const write = useWrite()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  return (
    <ActionDialog
      trigger={texts.addAction.open}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      title={texts.addAction.title(type)}
      sentence={texts.addAction.sentence(key, type)}
      submit={texts.add}
      onOpen={() => [setKey, setName].forEach(set => set(''))}
      isSaidBeside={problem => aboutKey(problem) !== null}
      onSubmit={() =>
        write({
          make: () => addAction(path, type, { key, name: name === '' ? key : name }),
          said: texts.addAction.said(key, type),
          undo: () => removeAction(path, type, key),
        })
      }
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
        </>
      )}
    </ActionDialog>
  )
}
