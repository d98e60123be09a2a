/** Dialog that adds a resource type. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { TextInput } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addType, removeType } from '../model-writes.ts'
import { AddPart } from './add-part.tsx'

export function AddType() {
  const { addType: texts, actions: label } = useTexts().model.graph
  const environment = useCurrentEnvironment()
  const [, go] = useLocation()
  const [typed, setTyped] = useState('')
  const actions = typed.split(/[\s,]+/).filter(action => action !== '')
  return (
    <AddPart
      trigger={texts.open}
      look={{ kind: 'primary' }}
      title={texts.title}
      sentence={key => texts.sentence(key, actions.join(', '))}
      message={texts.done}
      onOpen={() => setTyped('')}
      add={part =>
        addType(environment.path, {
          ...part,
          actions: Object.fromEntries(actions.map(action => [action, {}])),
        })
      }
      remove={(key, tag) => removeType(environment.path, key, tag)}
      onDone={key => go(environment.to('model', 'types', key))}
    >
      {problem => (
        <TextInput
          label={label}
          value={typed}
          onChange={setTyped}
          description={texts.actionsHelp}
          problem={problem?.about('actions')}
        />
      )}
    </AddPart>
  )
}
