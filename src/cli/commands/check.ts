/** `verdict check`: evaluates one check. The exit code is the decision. */
import { ask } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { EXIT } from '#cli/session/exit-codes.ts'
import { questionArguments, questionBody, questionOf, attributeArguments } from '#cli/questions/question.ts'
import { AllowedResult } from '#model/wire/decisions/decision.ts'

export const checkCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      attributeArguments(questionArguments(command))
        .example('$0 check carol write document:roadmap', 'checks whether carol can write the roadmap')
        .example(
          '$0 check carol create document --tenant acme',
          'checks whether she can create documents in acme',
        )
        .example(
          `$0 check carol read document --attributes '{"resource":{"public":true}}'`,
          'checks whether she can read a public document',
        ),
    run(async (session, given) => {
      const body = questionBody(questionOf(given))
      const { allow } = await ask(await session.decisions(), AllowedResult, 'POST', '/allowed', body)
      const { output } = session
      output.result({ allow }, () => (allow ? output.style('green', 'allow') : output.style('red', 'deny')))
      session.exitCode = allow ? EXIT.yes : EXIT.no
    }),
  )
