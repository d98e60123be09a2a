/** Formats the results of the tests in a model file. */
import type { TestOutcome } from './expectations.ts'
import type { Output } from '#cli/session/output.ts'

export function failedIn(tests: readonly TestOutcome[]): number {
  return tests.flatMap(({ outcomes }) => outcomes).filter(({ differences }) => differences.length > 0).length
}

/** Returns one line per test. For a failed test, further lines describe the differences. */
export function testLines(output: Output, tests: readonly TestOutcome[]): string[] {
  return tests.map(test => testText(output, test))
}

function testText(output: Output, { name, outcomes }: TestOutcome): string {
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
