/** `verdict apply`: brings an environment to the state of a model file, and shows first what that takes. */
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { ApiError, foreignAnswer } from '#cli/api.ts'
import type { Command } from '#cli/command.ts'
import { contentLineOf, ContentLineError } from '#cli/content-line.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { linesIn } from '#cli/input.ts'
import { applyPlan, warningsText } from '#cli/model-file/apply-plan.ts'
import { type EnvironmentState, PresentState, wantedState } from '#cli/model-file/environment-state.ts'
import type { Step } from '#cli/model-file/plan-step.ts'
import { planOf } from '#cli/model-file/plan.ts'
import { readModelFile } from '#cli/model-file/read-model-file.ts'
import type { Output } from '#cli/output.ts'
import type { Session } from '#cli/session.ts'
import type { ContentLine } from '#model/wire/environment-content.ts'

/** Steps of one kind that are shown in full. Of more steps the number is shown. */
const ALIKE_SHOWN_MAX = 20

export const applyCommand: Command = (parser, run) =>
  parser.command(
    'apply <file>',
    'Brings an environment to the state of a model file, after showing the plan. Exit code 1: not done',
    command =>
      command
        .positional('file', { type: 'string', demandOption: true, describe: 'a model file' })
        .option('yes', { alias: 'y', type: 'boolean', default: false, describe: 'do not ask' })
        .option('dry-run', {
          type: 'boolean',
          default: false,
          describe: 'only show the plan; exit code 1: there is one',
        })
        .option('prune', {
          type: 'boolean',
          default: false,
          describe:
            'remove resources, roles, relations, actions, attributes, condition sets and rules that the file does not name',
        })
        .option('prune-facts', {
          type: 'boolean',
          default: false,
          describe: 'remove tenants, users, instances, groups, assignments and tuples that it does not name',
        })
        .example('$0 apply model.yaml', 'shows the plan and asks')
        .example('$0 apply model.yaml --dry-run', 'in a pipeline: exit code 1 when something would change')
        .example('$0 apply model.yaml --prune --yes', 'and nothing else but what the file names'),
    run(async (session, { file, yes, dryRun, prune, pruneFacts }) => {
      const { tests: _tests, ...model } = readModelFile(await readFile(file, 'utf8'), file)
      const wanted = wantedState(model)
      const present = await presentState(session, wanted, pruneFacts)
      const steps = planOf(present, wanted, { model: prune, facts: pruneFacts })
      const { output } = session
      if (steps.length === 0) {
        output.result(
          { steps: [], applied: false },
          () => 'Nothing to do: the environment is as the file says.',
        )
        return
      }
      if (output.isHuman) output.note(planText(output, steps))
      if (dryRun || !(yes || (await isAgreed(session)))) {
        output.result({ steps: shown(steps), applied: false }, () => 'Nothing was changed.')
        session.exitCode = EXIT.no
        return
      }
      const place = await session.place()
      const changes = steps.flatMap(step => step.requests).length
      const warnings = await output.progress('applying', changes, 'changes', onProgress =>
        applyPlan(session.api, place, steps, onProgress),
      )
      if (warnings.length > 0 && output.isHuman) output.note(warningsText(warnings))
      output.result({ steps: shown(steps), applied: true, warnings }, () => 'Done.')
    }),
  )

/** The present state, as far as the plan may need it. */
async function presentState(
  session: Session,
  wanted: EnvironmentState,
  allFacts: boolean,
): Promise<EnvironmentState> {
  const present = new PresentState((kind, name) => allFacts || wanted[kind].has(name))
  const path = `/v2/projects/${await session.environmentPath()}/export`
  for await (const line of linesIn(session.api.download(path))) present.add(presentLine(line))
  if (!present.isWhole) throw new ApiError('what is there could not be read to its end')
  return present.state
}

function presentLine(text: string): ContentLine {
  try {
    return contentLineOf(text)
  } catch (error) {
    throw error instanceof ContentLineError ? foreignAnswer(`what is there: ${error.message}`) : error
  }
}

function shown(steps: readonly Step[]) {
  return steps.map(({ mark, what, details }) => ({ mark, what, details }))
}

const STYLES = { '+': 'green', '~': 'yellow', '-': 'red' } as const

function planText(output: Output, steps: readonly Step[]): string {
  const lines: string[] = []
  const kinds = Map.groupBy(steps, ({ mark, what }) => `${mark} ${what.split(' ')[0]}`)
  for (const [kind, alike] of kinds) {
    for (const { mark, what, details } of alike.slice(0, ALIKE_SHOWN_MAX)) {
      lines.push(`${output.style(STYLES[mark], mark)} ${what}`, ...details.map(detail => `    ${detail}`))
    }
    if (alike.length > ALIKE_SHOWN_MAX) lines.push(`${kind}: ${alike.length - ALIKE_SHOWN_MAX} more`)
  }
  const count = (mark: Step['mark']) => steps.filter(step => step.mark === mark).length
  return [...lines, '', `${count('+')} to add, ${count('~')} to change, ${count('-')} to remove`].join('\n')
}

/** Asks the person at the terminal. Without a terminal nobody is asked. */
async function isAgreed({ streams }: Session): Promise<boolean> {
  if (streams.stdin.isTTY !== true || streams.stderr.isTTY !== true) return false
  const prompt = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return /^y(es)?$/i.test((await prompt.question('Apply? [y/N] ')).trim())
  } finally {
    prompt.close()
  }
}
