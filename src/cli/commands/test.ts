/** `verdict test`: runs the tests in model files. The tests use the real engine, in this process. */
import type { Command } from '#cli/session/command.ts'
import { ModelFileError, EXIT } from '#cli/session/exit-codes.ts'
import { modelTextOf } from '#cli/session/input.ts'
import { type StepWarning, warningsText } from '#cli/model-file/apply-plan.ts'
import type { TestOutcome } from '#cli/model-file/expectations.ts'
import { KnownNames } from '#cli/model-file/known-names.ts'
import { ModelSource } from '#cli/model-file/model-source.ts'
import { checkedModel } from '#cli/model-file/read-model-file.ts'
import { performDryRun } from '#cli/model-file/dry-run.ts'
import { desiredState } from '#cli/model-file/desired-state.ts'
import { failedIn, testLines } from '#cli/model-file/test-report.ts'

export const testCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('files', { type: 'string', array: true, demandOption: true, describe: 'model files' })
        .example('$0 test model.yaml', 'checks the model and its sample facts against its expectations'),
    run(async (session, { files }) => {
      const outcomes = await outcomesOf(files)
      const all = outcomes.flatMap(({ tests }) => tests)
      const [asked, failed] = [all.flatMap(test => test.outcomes).length, failedIn(all)]
      for (const { file, tests, warnings } of outcomes) {
        if (tests.length === 0) session.output.note(`${file}: the file has no tests`)
        if (warnings.length > 0 && session.output.isHuman)
          session.output.note(`${file}\n${warningsText(warnings)}`)
      }
      session.output.result(outcomes, () =>
        [
          ...outcomes.flatMap(({ file, tests }) => [file, ...testLines(session.output, tests)]),
          '',
          `${asked - failed} passed, ${failed} failed`,
        ].join('\n'),
      )
      session.exitCode = failed === 0 ? EXIT.yes : EXIT.no
    }),
  )

interface FileOutcome {
  readonly file: string
  readonly tests: readonly TestOutcome[]
  readonly warnings: readonly StepWarning[]
}

/**
 * Runs the tests of a file. Throws `ModelFileError` with all errors in the file, including those that the
 * service would report.
 */
async function testFile(file: string): Promise<FileOutcome> {
  const source = ModelSource.read(await modelTextOf(file), file)
  const { tests: expected = [], ...model } = checkedModel(source, KnownNames.of(source.root))
  const none = { model: false, facts: false }
  const { refusals, warnings, tests } = await performDryRun(desiredState(model), expected, null, none)
  if (refusals.length > 0) throw source.errorOf(refusals)
  return { file, tests, warnings }
}

/**
 * Runs the tests of each file. If files contain errors, throws one `ModelFileError` with the errors of all
 * files.
 */
async function outcomesOf(files: readonly string[]): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  const wrong: string[] = []
  for (const file of files) {
    try {
      outcomes.push(await testFile(file))
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error
      wrong.push(error.message)
    }
  }
  if (wrong.length > 0) throw new ModelFileError(wrong.join('\n'))
  return outcomes
}
