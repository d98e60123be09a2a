/** `verdict apply`: changes an environment to the state in path of a model file, after showing the plan. */
import { foreignAnswer } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { canConfirm, confirm } from '#cli/session/confirmation.ts'
import { contentLineOf, ContentLineError } from './content-line.ts'
import { ApiError, EXIT } from '#cli/session/exit-codes.ts'
import { linesIn, modelTextOf } from '#cli/session/input.ts'
import { applyPlan, warningsText } from '#cli/model-file/apply-plan.ts'
import { formFindings } from '#cli/model-file/check-form.ts'
import { EnvironmentState } from '#cli/model-file/environment-state.ts'
import { KnownNames } from '#cli/model-file/known-names.ts'
import { ModelSource } from '#cli/model-file/model-source.ts'
import { PlanError, type PruneOptions, type Step } from '#cli/model-file/plan-step.ts'
import { planOf } from '#cli/model-file/plan.ts'
import { CurrentState } from '#cli/model-file/current-state.ts'
import { checkedModel } from '#cli/model-file/read-model-file.ts'
import { performDryRun } from '#cli/model-file/dry-run.ts'
import { desiredState } from '#cli/model-file/desired-state.ts'
import type { Output } from '#cli/session/output.ts'
import type { Session } from '#cli/session/session.ts'
import { failedIn, testLines } from '#cli/model-file/test-report.ts'
import { EncodingError } from '#model/text/utf8-text.ts'
import type { ModelFile } from '#entities/model-file.ts'
import type { ContentLine } from '#entities/environment-content.ts'

/**
 * Maximum number of similar steps that are shown in full. If there are more, the output contains only the
 * number of the others.
 */
const ALIKE_SHOWN_MAX = 20

export const applyCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', { type: 'string', demandOption: true, describe: 'path of a model file' })
        .option('yes', {
          alias: 'y',
          type: 'boolean',
          default: false,
          describe: 'do not ask for confirmation',
        })
        .option('dry-run', {
          type: 'boolean',
          default: false,
          describe: 'only show the plan; exit code 1 if it contains changes',
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
        .example('$0 apply model.yaml', 'shows the plan and asks for confirmation')
        .example('$0 apply model.yaml --dry-run', 'in a pipeline: exit code 1 if something would change')
        .example('$0 apply model.yaml --prune --yes', 'also removes what the file does not name'),
    run(async (session, { file, yes, dryRun, prune, pruneFacts }) => {
      const pruned = { model: prune, facts: pruneFacts }
      const source = ModelSource.read(await modelTextOf(file), file)
      const { tests: expected = [], desired, current } = await statesOf(session, source, pruned)
      const steps = plannedSteps(source, current, desired, pruned)
      const { refusals, tests } = await performDryRun(desired, expected, current, pruned)
      if (refusals.length > 0) throw source.errorOf(refusals)
      const { output } = session
      const failed = failedIn(tests)
      if (failed > 0) {
        output.note([file, ...testLines(output, tests), ''].join('\n'))
        output.result(
          { steps: shown(steps), applied: false, tests },
          () => `Tests: ${failed} failed. ${UNCHANGED}`,
        )
        session.exitCode = EXIT.no
        return
      }
      if (steps.length === 0) {
        output.result({ steps: [], applied: false }, () => 'Nothing to do: the environment matches the file.')
        return
      }
      if (output.isHuman) output.note(planText(output, steps))
      if (dryRun || !(yes || (await confirm(session, 'Apply?')))) {
        output.result({ steps: shown(steps), applied: false }, () =>
          dryRun || canConfirm(session) ? UNCHANGED : `${UNCHANGED} Add --yes to apply.`,
        )
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

const UNCHANGED = 'Nothing was changed.'

interface States {
  readonly tests: ModelFile['tests']
  readonly desired: EnvironmentState
  readonly current: EnvironmentState
}

/**
 * Returns two states: the desired state from the file, and the part of the current state that the plan needs.
 * Throws `ModelFileError` with all errors in the file. The file can also refer to names that exist in the
 * environment, unless they are going to be removed (`pruned`).
 */
async function statesOf(session: Session, source: ModelSource, pruned: PruneOptions): Promise<States> {
  const form = formFindings(source)
  const isFormed = form.length === 0 && !source.hasProblems
  const { tests, ...model } = source.root.value as ModelFile
  const desired = isFormed ? desiredState(model) : new EnvironmentState()
  const mentioned = mentionedTexts(source.root.value)
  const current = await readCurrentState(session, desired, mentioned, pruned.facts).catch(
    (error: unknown) => {
      // If the service cannot be reached but the form of the file is wrong, the errors in the form are
      // reported.
      throw isFormed || !(error instanceof ApiError) ? error : source.errorOf(form)
    },
  )
  const known = KnownNames.of(source.root)
  known.addState(current, pruned)
  checkedModel(source, known)
  return { tests, desired, current }
}

function plannedSteps(
  source: ModelSource,
  current: EnvironmentState,
  desired: EnvironmentState,
  pruned: PruneOptions,
): Step[] {
  try {
    return planOf(current, desired, pruned)
  } catch (error) {
    throw error instanceof PlanError ? source.errorOf(error.conflicts) : error
  }
}

/**
 * Returns all texts in the file. For texts such as `type:key`, the key alone is also included. The result
 * contains every name in the environment to which the file refers. O(file).
 */
function mentionedTexts(file: unknown): ReadonlySet<string> {
  const texts = new Set<string>()
  const open: unknown[] = [file]
  const add = (text: string) => texts.add(text).add(text.slice(text.indexOf(':') + 1).replace(/#[^#]*$/, ''))
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') add(value)
    else if (Array.isArray(value)) for (const item of value) open.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        add(key)
        open.push(inner)
      }
    }
  }
  return texts
}

/** Reads the current state. If `allFacts` is false, facts that the file does not mention are skipped. */
async function readCurrentState(
  session: Session,
  desired: EnvironmentState,
  mentioned: ReadonlySet<string>,
  allFacts: boolean,
): Promise<EnvironmentState> {
  const current = new CurrentState((kind, name) => {
    if (allFacts) return true
    if (kind === 'assignments' || kind === 'tuples') return desired[kind].has(name)
    return mentioned.has(kind === 'instances' ? name.slice(name.indexOf(':') + 1) : name)
  })
  const path = `/v2/projects/${await session.environmentPath()}/export`
  try {
    for await (const line of linesIn(session.api.download(path))) current.add(presentLine(line))
  } catch (error) {
    throw error instanceof EncodingError ? foreignAnswer(`current state:${error.message}`) : error
  }
  if (!current.isWhole) throw new ApiError('the export of the current state ended early')
  return current.state
}

function presentLine(text: string): ContentLine {
  try {
    return contentLineOf(text)
  } catch (error) {
    throw error instanceof ContentLineError ? foreignAnswer(`current state: ${error.message}`) : error
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
