/** Form for a check, with completion from the service. */
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { attributesIn } from '../interface/attributes.ts'
import {
  completeActions,
  completeInstances,
  completeTenants,
  completeTypes,
  completeUsers,
} from '../interface/completions.ts'
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { Action } from '../parts/action.tsx'
import { KeyInput, LongTextInput } from '../parts/fields.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useType } from './use-type.ts'
import { ATTRIBUTES, type Field, isComplete, type Question } from './question.ts'

/** Paths of the form fields, as error responses contain them. */
const PLACES: Readonly<Record<Field, string>> = {
  user: 'user.key',
  action: 'action',
  type: 'resource.type',
  key: 'resource.key',
  tenant: 'resource.tenant',
  userAttributes: 'user.attributes',
  resourceAttributes: 'resource.attributes',
  context: 'context',
}

export function QuestionForm({
  asked,
  onAsk,
  isUnderWay,
  isDisabled,
  problem,
}: {
  /** Initial values of the fields. */
  readonly asked: Question
  readonly onAsk: (question: Question) => void
  readonly isUnderWay: boolean
  /** Whether no check can be requested. The page then states the reason. */
  readonly isDisabled: boolean
  readonly problem: unknown
}) {
  const texts = useTexts().questions
  const environment = useCurrentEnvironment()
  const [question, setQuestion] = useState(asked)
  // Fills the fields again if a link led to another check. After the user has submitted this form, the fields
  // are not filled, so that the focus stays.
  const [filledWith, setFilledWith] = useState(asked)
  if (JSON.stringify(asked) !== JSON.stringify(filledWith)) {
    setFilledWith(asked)
    setQuestion(asked)
  }
  const [isRefused, setIsRefused] = useState(false)
  const type = useType(question.type)
  const knownType = type === null || type === undefined ? null : type.key

  const put = (field: Field) => (value: string) => setQuestion(former => ({ ...former, [field]: value }))
  const fieldError = (field: Field): FieldProblem | null => {
    if (isRefused && ['user', 'action', 'type'].includes(field) && question[field] === '')
      return texts.required
    return problemAt(problem, PLACES[field])
  }
  const attributesError = (field: (typeof ATTRIBUTES)[number]): FieldProblem | null =>
    isRefused && attributesIn(question[field]) === null ? texts.noObject : fieldError(field)
  const look = (field: Field) => ({
    label: texts[field],
    value: question[field],
    onChange: put(field),
    problem: fieldError(field),
  })
  return (
    <Form
      className="stack question-form"
      onSubmit={event => {
        event.preventDefault()
        const trimmed = trimmedOf(question)
        setIsRefused(!isComplete(trimmed))
        if (isComplete(trimmed)) onAsk(trimmed)
      }}
    >
      <div className="question-fields">
        <KeyInput
          {...look('user')}
          queryKey={environment.key('user', 'question', 'users')}
          load={completeUsers(environment)}
          isRequired
        />
        <KeyInput
          {...look('action')}
          queryKey={environment.key('resource', 'question', 'actions', question.type)}
          load={completeActions(environment, question.type)}
          isRequired
        />
        <KeyInput
          {...look('type')}
          queryKey={environment.key('resource', 'question', 'types')}
          load={completeTypes(environment)}
          isRequired
        />
        <KeyInput
          {...look('key')}
          description={texts.keyHelp}
          queryKey={environment.key('resource_instance', 'question', 'instances', knownType)}
          load={completeInstances(environment, knownType ?? '')}
        />
        <KeyInput
          {...look('tenant')}
          description={texts.tenantHelp}
          queryKey={environment.key('tenant', 'question', 'tenants')}
          load={completeTenants(environment)}
        />
      </div>
      <details className="more-fields" open={ATTRIBUTES.some(field => asked[field] !== '')}>
        <summary>{texts.attributes}</summary>
        <div className="stack">
          <p className="soft small">{texts.attributesHelp}</p>
          <div className="attribute-fields">
            {ATTRIBUTES.map(field => (
              <LongTextInput key={field} {...look(field)} problem={attributesError(field)} rows={4} />
            ))}
          </div>
        </div>
      </details>
      <div className="row">
        <Action type="submit" kind="primary" isPending={isUnderWay} isDisabled={isDisabled}>
          {isUnderWay ? texts.asking : texts.ask}
        </Action>
      </div>
    </Form>
  )
}

/** Removes whitespace before and after the values. Pasted keys often have it, and real keys never do. */
function trimmedOf(question: Question): Question {
  const trimmed = Object.entries(question).map(([field, value]) => [field, String(value).trim()])
  return Object.fromEntries(trimmed) as Question
}

/**
 * Error about a field of the check. It is found in the findings, or in a message such as `user.key: must not
 * …`.
 */
function problemAt(problem: unknown, prefix: string): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  const found = problem.findings.find(({ place: parts }) =>
    parts
      .filter(part => part !== 'body')
      .join('.')
      .startsWith(prefix),
  )
  if (found !== undefined) return found
  return problem.message.startsWith(`${prefix}:`) || problem.message.startsWith(`${prefix}.`) ? problem : null
}

/** Whether a field of the form shows the error. */
export function isAboutField(problem: unknown): boolean {
  return Object.values(PLACES).some(environment => problemAt(problem, environment) !== null)
}
