/** `verdict explain`: one question, its answer, and why. */
import { ask } from '#cli/api.ts'
import type { Command } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import type { Output } from '#cli/output.ts'
import { ruleTexts } from '#cli/explained-rules.ts'
import { questionArguments, questionBody, questionOf, saidArguments } from '#cli/question.ts'
import { ExplainedResult } from '#model/wire/decision.ts'

export const explainCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      saidArguments(questionArguments(command)).example(
        '$0 explain carol write document:roadmap',
        'the way that leads to the answer',
      ),
    run(async (session, given) => {
      const body = questionBody(questionOf(given))
      const answer = await ask(await session.decisions(), ExplainedResult, 'POST', '/allowed/explain', body)
      session.output.result(answer, () => tell(session.output, answer))
      session.exitCode = answer.allow ? EXIT.yes : EXIT.no
    }),
  )

function tell(output: Output, answer: ExplainedResult): string {
  const { allow, debug } = answer
  const byRules = ruleTexts(answer)
  if (!allow) {
    return [
      output.style('red', 'deny'),
      `  by tenant roles: ${debug.rbac.reason}`,
      `  by instance roles: ${debug.rebac.reason}`,
      ...(byRules.length === 0 ? [] : ['  by rules:', ...byRules.map(line => `    ${line}`)]),
    ].join('\n')
  }
  const path = debug.rebac.path ?? []
  const byRoles = debug.rbac.allow ? [debug.rbac.reason] : path.map(stepText)
  const lines = debug.rbac.allow || debug.rebac.allow ? byRoles : byRules
  return [output.style('green', 'allow'), ...lines.map(line => `  ${line}`)].join('\n')
}

type PathStep = NonNullable<ExplainedResult['debug']['rebac']['path']>[number]

function stepText(step: PathStep): string {
  if (step.kind === 'tenant-role') return `holds ${step.role} in tenant ${step.tenant}`
  if (step.kind === 'instance-role') return `holds ${nameOf(step.instance)}#${step.role}`
  return `which is ${step.relation} of ${nameOf(step.object)}: hence ${nameOf(step.object)}#${step.role}`
}

function nameOf({ type, key }: { readonly type: string; readonly key: string }): string {
  return `${type}:${key}`
}
