/** `verdict explain`: evaluates one check and explains the decision. */
import { ask } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { ApiError, EXIT } from '#cli/session/exit-codes.ts'
import type { Output } from '#cli/session/output.ts'
import { ruleTexts } from '#cli/questions/explained-rules.ts'
import { nearMissTexts } from '#cli/questions/near-misses.ts'
import {
  questionArguments,
  questionBody,
  questionOf,
  attributeArguments,
  type SingleQuestion,
} from '#cli/questions/question.ts'
import type { Session } from '#cli/session/session.ts'
import { unknownNames } from '#cli/grants/unknown-names.ts'
import { ExplainedResult } from '#model/wire/decisions/decision.ts'

export const explainCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      attributeArguments(questionArguments(command)).example(
        '$0 explain carol write document:roadmap',
        'shows the path that leads to the decision',
      ),
    run(async (session, given) => {
      const question = questionOf(given)
      const body = questionBody(question)
      const answer = await ask(await session.decisions(), ExplainedResult, 'POST', '/allowed/explain', body)
      session.output.result(answer, () => explanationText(session.output, question.user, answer))
      if (!answer.allow) await printUnknown(session, question)
      session.exitCode = answer.allow ? EXIT.yes : EXIT.no
    }),
  )

/** Prints unknown names to standard error. If the search for them fails, the explanation is still printed. */
async function printUnknown(session: Session, question: SingleQuestion): Promise<void> {
  try {
    for (const text of await unknownNames(session.api, await session.place(), question)) {
      session.output.note(text)
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

function explanationText(output: Output, user: string, answer: ExplainedResult): string {
  const { allow, debug } = answer
  const byRules = ruleTexts(answer)
  if (!allow) {
    const nearMisses = nearMissTexts(user, debug.rebac)
    return [
      output.style('red', 'deny'),
      `  by tenant roles: ${debug.rbac.reason}`,
      `  by instance roles: ${debug.rebac.reason}`,
      ...(nearMisses.length === 0 ? [] : ['  near misses:', ...nearMisses.map(line => `    ${line}`)]),
      ...(byRules.length === 0 ? [] : ['  by rules:', ...byRules.map(line => `    ${line}`)]),
    ].join('\n')
  }
  const path = debug.rebac.path ?? []
  const byRoles = debug.rbac.allow
    ? [`${debug.rbac.reason}${expiryText(debug.rbac)}`]
    : path.map(step => `${stepText(step)}${expiryText(step)}`)
  const lines = debug.rbac.allow || debug.rebac.allow ? byRoles : byRules
  return [output.style('green', 'allow'), ...lines.map(line => `  ${line}`)].join('\n')
}

type PathStep = NonNullable<ExplainedResult['debug']['rebac']['path']>[number]

function stepText(step: PathStep): string {
  if (step.kind === 'tenant-role') return `holds ${step.role} in tenant ${step.tenant}`
  if (step.kind === 'instance-role') return `holds ${nameOf(step.instance)}#${step.role}`
  return `which is ${step.relation} of ${nameOf(step.object)}: so ${nameOf(step.object)}#${step.role}`
}

function expiryText({ expires_at: expiresAt }: { readonly expires_at?: string }): string {
  return expiresAt === undefined ? '' : `, until ${expiresAt}`
}

function nameOf({ type, key }: { readonly type: string; readonly key: string }): string {
  return `${type}:${key}`
}
