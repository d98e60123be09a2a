/** `verdict check`: one question, its answer as the exit code. */
import { ask } from '#cli/api.ts'
import type { Command } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { questionArguments, questionBody } from '#cli/question.ts'
import { AllowedResult } from '#model/wire/decision.ts'

export const checkCommand: Command = (parser, run) =>
  parser.command(
    'check <user> <action> <resource>',
    'May this user do this on that resource? Exit code 0: yes, 1: no',
    command =>
      questionArguments(command)
        .example('$0 check carol write document:roadmap', 'may carol write the roadmap?')
        .example('$0 check carol create document --tenant acme', 'may she create documents in acme?'),
    run(async (session, { user, action, resource, tenant }) => {
      const body = questionBody({ user, action, resource, tenant })
      const { allow } = await ask(await session.decisions(), AllowedResult, 'POST', '/allowed', body)
      const { output } = session
      output.result({ allow }, () => (allow ? output.style('green', 'allow') : output.style('red', 'deny')))
      session.exitCode = allow ? EXIT.yes : EXIT.no
    }),
  )
