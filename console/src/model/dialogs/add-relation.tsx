/** A new relation: what may stand before a thing of this type. */
import { useState } from 'react'
import { completeTypes } from '../../interface/completions.ts'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { KeyInput, TextInput } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { MODEL_NOUNS } from '../model-reads.ts'
import { addRelation, removeRelation } from '../model-writes.ts'
import { aboutKey } from './key-problem.ts'

export function AddRelation({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph
  const place = usePlace()
  const write = useWrite()
  const [key, setKey] = useState('')
  const [subject, setSubject] = useState('')
  return (
    <ActionDialog
      trigger={texts.addRelation.open}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      title={texts.addRelation.title(type)}
      sentence={texts.addRelation.sentence(key, subject, type)}
      submit={texts.add}
      onOpen={() => [setKey, setSubject].forEach(set => set(''))}
      isSaidBeside={problem => aboutKey(problem) !== null}
      onSubmit={() =>
        write({
          make: () => addRelation(place.path, type, { key, name: key, subject_resource: subject }),
          said: texts.addRelation.said(key, subject, type),
          undo: () => removeRelation(place.path, type, key),
        })
      }
    >
      {problem => (
        <>
          <TextInput
            label={texts.key}
            value={key}
            onChange={setKey}
            description={texts.addRelation.keyHelp}
            problem={aboutKey(problem)}
            isRequired
            autoFocus
          />
          <KeyInput
            label={texts.addRelation.subject}
            value={subject}
            onChange={setSubject}
            description={texts.addRelation.subjectHelp(type)}
            queryKey={place.key(MODEL_NOUNS, 'type-options')}
            load={completeTypes(place)}
            problem={
              problem instanceof Problem
                ? problem.status === 404
                  ? problem
                  : problem.about('subject_resource')
                : null
            }
            isRequired
          />
        </>
      )}
    </ActionDialog>
  )
}
