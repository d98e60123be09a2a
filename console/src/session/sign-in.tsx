/** Sign-in form. The service checks the typed key before the console stores it. */
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { Problem } from '../interface/problem.ts'
import { SERVICE } from '../interface/client.ts'
import { Action } from '../parts/action.tsx'
import { TextInput } from '../parts/fields.tsx'
import { useProblemText } from '../parts/problem-note.tsx'
import { Brand } from '../shell/brand.tsx'
import { Settings } from '../shell/settings.tsx'
import { useTexts } from '../texts/texts.tsx'
import { signIn, useSession } from './session.ts'

export function SignIn() {
  const texts = useTexts().shell
  const { endedBy } = useSession()
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const problemText = useProblemText(problem)
  const enter = async (): Promise<void> => {
    setIsUnderWay(true)
    setProblem(null)
    try {
      await checkKey(key)
      signIn(key)
    } catch (refused) {
      setProblem(refused)
      setIsUnderWay(false)
    }
  }
  const isRefused = problem instanceof Problem && problem.status === 401
  const keyError = isRefused || (problem === null && endedBy === 'refused') ? texts.keyRefused : problemText
  return (
    <main className="sign-in">
      <section className="card stack">
        <div className="stack tight">
          <h1>
            <Brand />
          </h1>
          <p className="soft">{texts.signInLead}</p>
        </div>
        <Form
          className="stack"
          onSubmit={event => {
            event.preventDefault()
            void enter()
          }}
        >
          <TextInput
            label={texts.key}
            description={texts.keyHelp}
            type="password"
            value={key}
            onChange={value => setKey(value.trim())}
            problem={keyError}
            autoFocus
            isRequired
          />
          <Action type="submit" kind="primary" isPending={isUnderWay} isDisabled={key === ''}>
            {texts.signIn}
          </Action>
        </Form>
        <Settings />
      </section>
    </main>
  )
}

/** Rejects if the service does not accept the key. */
async function checkKey(key: string): Promise<void> {
  // Characters that are not valid in a header are escaped. A text with such characters cannot be a key, and
  // the service rejects it.
  const headers = { authorization: `Bearer ${encodeURI(key)}` }
  const response = await fetch(`${SERVICE}/v2/api-key/scope`, { headers }).catch(() => {
    throw Problem.unreachable()
  })
  if (!response.ok) throw Problem.of(response, await response.json().catch(() => null))
}
