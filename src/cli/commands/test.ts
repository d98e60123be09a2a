/** `verdict test`: what model files expect of themselves, tried in this process on the real engine. */
import { readFile } from 'node:fs/promises'
import type { Command } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { InProcessApi } from '#cli/in-process-api.ts'
import { applyPlan, type StepWarning, warningsText } from '#cli/model-file/apply-plan.ts'
import { EnvironmentState, wantedState } from '#cli/model-file/environment-state.ts'
import { runTest, type TestOutcome } from '#cli/model-file/expectations.ts'
import { planOf } from '#cli/model-file/plan.ts'
import { readModelFile } from '#cli/model-file/read-model-file.ts'
import type { Output } from '#cli/output.ts'

export const testCommand: Command = (parser, run) =>
  parser.command(
    'test <files..>',
    'Tries the tests of model files, without a server. Exit code 0: all as expected, 1: not',
    command =>
      command
        .positional('files', { type: 'string', array: true, demandOption: true, describe: 'model files' })
        .example('$0 test model.yaml', 'the model with its sample facts, and what it says must follow'),
    run(async (session, { files }) => {
      const outcomes: FileOutcome[] = []
      for (const file of files) outcomes.push(await testFile(file))
      const questions = outcomes.flatMap(({ tests }) => tests.flatMap(test => test.outcomes))
      const failed = questions.filter(({ differences }) => differences.length > 0).length
      for (const { file, warnings } of outcomes) {
        if (warnings.length > 0 && session.output.isHuman)
          session.output.note(`${file}\n${warningsText(warnings)}`)
      }
      session.output.result(outcomes, () =>
        [
          ...outcomes.flatMap(({ file, tests }) => [file, ...tests.map(test => tell(session.output, test))]),
          '',
          `${questions.length - failed} as expected, ${failed} not`,
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

async function testFile(file: string): Promise<FileOutcome> {
  const { tests = [], ...model } = readModelFile(await readFile(file, 'utf8'), file)
  const api = await InProcessApi.open()
  try {
    const present = new EnvironmentState()
    // What every environment starts with.
    present.tenants.set('default', { name: 'Default tenant' })
    const steps = planOf(present, wantedState(model), { model: false, facts: false })
    const warnings = await applyPlan(api, 'default/default', steps, () => {})
    const outcomes: TestOutcome[] = []
    for (const test of tests) outcomes.push(await runTest(api, test))
    return { file, tests: outcomes, warnings }
  } finally {
    await api.close()
  }
}

function tell(output: Output, { name, outcomes }: TestOutcome): string {
  const failed = outcomes.filter(({ differences }) => differences.length > 0)
  const mark = failed.length === 0 ? output.style('green', '✓') : output.style('red', '✗')
  const lines = failed.flatMap(({ question, differences }) => [
    `      ${question}`,
    ...differences.map(
      difference => `        ${output.style(difference.startsWith('+') ? 'green' : 'red', difference)}`,
    ),
  ])
  return [`  ${mark} ${name}`, ...lines].join('\n')
}
