/** `verdict bulk`: evaluates many checks from a file with few requests. */
import { Check } from 'typebox/schema'
import { type Api, ask, foreignAnswer } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { EXIT, UsageError } from '#cli/session/exit-codes.ts'
import { linesOf, FILE_ARGUMENT } from '#cli/session/input.ts'
import type { OnProgress } from '#cli/session/output.ts'
import { questionBody, type SingleQuestion } from '#cli/questions/question.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { QuestionAttributes } from '#entities/model-file.ts'
import { AttributeMap } from '#model/wire/common-fields.ts'
import { BulkAllowedResult } from '#model/wire/decisions/decision.ts'

/** Number of checks per request. It is below the default limit of the service. */
const QUESTIONS_PER_REQUEST = 1_000

export const bulkCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', {
          ...FILE_ARGUMENT,
          demandOption: true,
          describe: 'path of the file; - for standard input',
        })
        .example('$0 bulk questions.txt', 'lines like: carol write document:roadmap')
        .example(
          '$0 bulk questions.ndjson',
          'lines like: {"user":"carol","action":"write","resource":"document:roadmap"}',
        ),
    run(async (session, { file }) => {
      const questions: SingleQuestion[] = []
      for await (const { text, number } of linesOf(file, session.streams.stdin)) {
        questions.push(questionOf(text, `${file}:${number}`))
      }
      const { output } = session
      const api = await session.decisions()
      const answers = await output.progress('checking', questions.length, 'questions', onProgress =>
        answersTo(questions, api, onProgress),
      )
      const results = questions.map((question, index) => ({ ...question, allow: answers[index]! }))
      const word = (allow: boolean) => (allow ? output.style('green', 'allow') : output.style('red', 'deny'))
      output.result(results, () => {
        const rows = results.map(({ user, action, resource, tenant, allow }) => [
          user,
          action,
          resource,
          tenant,
          word(allow),
        ])
        const denied = answers.filter(allow => !allow).length
        return `${output.table(['USER', 'ACTION', 'RESOURCE', 'TENANT', 'ANSWER'], rows)}\n\n${answers.length - denied} allowed, ${denied} denied`
      })
      session.exitCode = answers.every(Boolean) ? EXIT.yes : EXIT.no
    }),
  )

async function answersTo(
  questions: readonly SingleQuestion[],
  api: Api,
  onProgress: OnProgress,
): Promise<boolean[]> {
  const answers: boolean[] = []
  for (let from = 0; from < questions.length; from += QUESTIONS_PER_REQUEST) {
    const body = questions.slice(from, from + QUESTIONS_PER_REQUEST).map(questionBody)
    const { allow } = await ask(api, BulkAllowedResult, 'POST', '/allowed/bulk', body)
    if (allow.length !== body.length) throw foreignAnswer('POST /allowed/bulk')
    answers.push(...allow.map(answer => answer.allow))
    onProgress(answers.length)
  }
  return answers
}

/** Parses a check, given as JSON or as words separated by blanks. */
function questionOf(text: string, place: string): SingleQuestion {
  if (!text.startsWith('{')) {
    const [user, action, resource, tenant, ...more] = text.split(/\s+/)
    if (!user || !action || !resource || more.length > 0) {
      throw new UsageError(
        `${place}: expected user, action, resource and an optional tenant, got ${JSON.stringify(text)}`,
      )
    }
    return { user, action, resource, tenant }
  }
  const value = parsed(text, place)
  const { user, action, resource, tenant, attributes, context } = value
  const isText = (part: unknown): part is string => typeof part === 'string' && part !== ''
  if (!isText(user) || !isText(action) || !isText(resource) || !(tenant === undefined || isText(tenant))) {
    throw new UsageError(
      `${place}: expected {"user":…,"action":…,"resource":…} and an optional "tenant", each a string`,
    )
  }
  if (!(attributes === undefined || Check(QuestionAttributes, attributes))) {
    throw new UsageError(`${place}: expected "attributes" with "user", "resource" or both, each an object`)
  }
  if (!(context === undefined || Check(AttributeMap, context))) {
    throw new UsageError(`${place}: expected "context" to be an object`)
  }
  return {
    user,
    action,
    resource,
    tenant,
    ...(attributes !== undefined && { attributes }),
    ...(context !== undefined && { context }),
  }
}

function parsed(text: string, place: string): Record<string, unknown> {
  try {
    return parsedJson(text) as Record<string, unknown>
  } catch (error) {
    throw new UsageError(`${place}: ${(error as Error).message}`)
  }
}
