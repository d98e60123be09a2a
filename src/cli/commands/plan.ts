/**
 * `verdict plan`: prints the filter for the rows on which a user can perform an action, as a tree or as SQL,
 * or compares the filter with checks of rows.
 */
import { readFile } from 'node:fs/promises'
import { type Api, ask, foreignAnswer } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { ApiError, EXIT, UsageError } from '#cli/session/exit-codes.ts'
import { linesOf } from '#cli/session/input.ts'
import type { Output } from '#cli/session/output.ts'
import type { Session } from '#cli/session/session.ts'
import { ARGUMENT, attributeArguments, attributesAndContext } from '#cli/questions/question.ts'
import {
  type AccessPlan,
  type Difference,
  FilterError,
  type FilterTable,
  planRequest,
  type PlanQuestion,
  rowCheck,
  table,
  type TableDescription,
  type TableRow,
  toSql,
  verifyPlan,
} from '#filter/adapters.ts'
import { DIALECT_NAMES, type DialectName } from '#filter/dialect.ts'
import type { FilterNode } from '#filter/tree.ts'
import { isObject } from '#model/json-object.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { BulkAllowedResult } from '#model/wire/decisions/decision.ts'
import { PlanResult } from '#model/wire/decisions/plan.ts'

/** Number of attempts to compare a plan with checks of the same revision. */
const ATTEMPTS_MAX = 3

export const planCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      attributeArguments(command)
        .positional('user', ARGUMENT.user)
        .positional('action', ARGUMENT.action)
        .positional('type', ARGUMENT.type)
        .option('tenant', { ...ARGUMENT.tenant, describe: 'tenant of all rows' })
        .option('columns', { type: 'string', describe: 'path of a JSON file that describes the table' })
        .option('sql', { choices: DIALECT_NAMES, describe: 'prints the filter as SQL of this database' })
        .option('alias', { type: 'string', describe: 'alias of the table in the SQL' })
        .option('rows', {
          type: 'string',
          describe:
            'path of a file with one row as JSON per line: compares the filter with a check of each row',
        })
        .conflicts('rows', 'sql')
        .example('$0 plan carol read document --columns documents.json', 'prints the filter')
        .example(
          '$0 plan carol read document --columns documents.json --sql postgresql',
          'prints a condition for WHERE, and its values',
        )
        .example(
          '$0 plan carol read document --columns documents.json --rows rows.jsonl',
          'prints the rows for which the filter and a check differ',
        ),
    run(async (session, { user, action, type, tenant, columns, sql, alias, rows, ...given }) => {
      const { attributes, context } = attributesAndContext(given)
      const question: PlanQuestion = {
        user: { key: user, ...(attributes?.user && { attributes: attributes.user }) },
        action,
        ...(tenant !== undefined && { tenant }),
        ...(attributes?.resource && { attributes: attributes.resource }),
        ...(context && { context }),
      }
      const described = await describedTable(type, columns)
      if (rows !== undefined) await printDifferences(session, described, question, rows)
      else await printPlan(session, described, question, { dialect: sql, alias })
    }),
  )

/** Without a file, the only column is `id`, the key of the row. */
async function describedTable(type: string, file: string | undefined): Promise<FilterTable> {
  if (file === undefined) return table({ type, key: { column: 'id' } })
  const bytes = await readFile(file).catch((error: Error) => {
    throw Object.assign(error, { path: file })
  })
  const description = objectIn(bytes.toString('utf8'), file)
  if (!isObject(description['key'])) {
    throw new UsageError(`${file}: expected the description of a table, such as {"key": {"column": "id"}}`)
  }
  const { type: named = type } = description
  if (named !== type) {
    throw new UsageError(`${file}: describes rows of the type ${JSON.stringify(named)}, not of ${type}`)
  }
  return expressed(file, () => table({ ...description, type } as unknown as TableDescription))
}

function objectIn(text: string, place: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parsedJson(text)
  } catch (error) {
    throw new UsageError(`${place}: ${(error as Error).message}`)
  }
  if (!isObject(value)) throw new UsageError(`${place}: expected a JSON object, got ${text.slice(0, 200)}`)
  return value
}

/** Runs an adapter. Its errors concern the arguments, or a service of a later version. */
function expressed<Result>(place: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const isForeign = error.code.startsWith('UNKNOWN_') || error.code === 'INVALID_VALUE'
    throw isForeign
      ? new ApiError(`POST /allowed/plan: ${error.message}; use the version of verdict of the service`)
      : new UsageError(`${place}: ${error.message}`)
  }
}

async function planOf(api: Api, described: FilterTable, question: PlanQuestion): Promise<AccessPlan> {
  const plan = await ask(api, PlanResult, 'POST', '/allowed/plan', planRequest(described, question))
  // Large integers of the filter are doubles.
  return JSON.parse(JSON.stringify(plan)) as AccessPlan
}

async function printPlan(
  session: Session,
  described: FilterTable,
  question: PlanQuestion,
  { dialect, alias }: { readonly dialect: DialectName | undefined; readonly alias: string | undefined },
): Promise<void> {
  const { output } = session
  const plan = await planOf(await session.decisions(), described, question)
  const sql = dialect && expressed('--sql', () => toSql(plan, described, { dialect, alias }))
  output.result(sql ? { ...plan, sql } : plan, () => {
    const until = plan.expires_at === null ? '' : `\nuse it before ${plan.expires_at}`
    if (sql) return `${sql.text}${sql.values.map(value => `\n  ${JSON.stringify(value)}`).join('')}${until}`
    const kind = output.style(plan.kind === 'always_denied' ? 'red' : 'green', plan.kind)
    return `${kind}${plan.filter ? `\n${linesIn(plan.filter, 1)}` : ''}${until}`
  })
  session.exitCode = plan.kind === 'always_denied' ? EXIT.no : EXIT.yes
}

/** The tree with one test per line. */
function linesIn(node: FilterNode, depth: number): string {
  const indent = '  '.repeat(depth)
  if (node.type === 'field') {
    const { field, operator, value } = node
    const isReference = typeof value === 'object' && 'field' in value
    return `${indent}${field} ${operator} ${isReference ? value.field : JSON.stringify(value)}`
  }
  return [`${indent}${node.operator}`, ...node.value.map(child => linesIn(child, depth + 1))].join('\n')
}

async function printDifferences(
  session: Session,
  described: FilterTable,
  question: PlanQuestion,
  file: string,
): Promise<void> {
  const rows: TableRow[] = []
  for await (const { text, number } of linesOf(file, session.streams.stdin)) {
    const [row, place] = [objectIn(text, `${file}:${number}`), `${file}:${number}`]
    expressed(place, () => rowCheck(described, question, row))
    rows.push(row)
  }
  const { output } = session
  const differences = await differencesIn(session, described, question, rows)
  const found = differences.map(({ row, isSelected, isAllowed }) => ({
    row,
    is_selected: isSelected,
    is_allowed: isAllowed,
  }))
  output.result({ rows: rows.length, differences: found }, () => textOf(output, rows.length, differences))
  session.exitCode = differences.length === 0 ? EXIT.yes : EXIT.no
}

/** A commit between the plan and the checks can cause differences. The comparison is then repeated. */
async function differencesIn(
  session: Session,
  described: FilterTable,
  question: PlanQuestion,
  rows: readonly TableRow[],
): Promise<readonly Difference[]> {
  const api = await session.decisions()
  const bulk = async (checks: readonly Record<string, unknown>[]) => {
    const { allow } = await ask(api, BulkAllowedResult, 'POST', '/allowed/bulk', checks)
    if (allow.length !== checks.length) throw foreignAnswer('POST /allowed/bulk')
    return allow.map(answer => answer.allow)
  }
  for (let attempt = 1; ; attempt++) {
    const plan = await planOf(api, described, question)
    const differences = await verifyPlan(plan, described, question, rows, bulk).catch((error: unknown) =>
      expressed('--rows', () => {
        throw error
      }),
    )
    if (differences.length === 0) return differences
    if ((await planOf(api, described, question)).revision === plan.revision) return differences
    if (attempt < ATTEMPTS_MAX) continue
    session.output.note('The environment changed during the comparison, which can cause differences.')
    return differences
  }
}

function textOf(output: Output, count: number, differences: readonly Difference[]): string {
  const lines = differences.map(({ row, isSelected, isAllowed }) => [
    isSelected ? 'selects' : 'does not select',
    isAllowed ? output.style('green', 'allow') : output.style('red', 'deny'),
    JSON.stringify(row),
  ])
  const summary = `${count} rows compared, ${differences.length} differ`
  return lines.length === 0 ? summary : `${output.table(['FILTER', 'CHECK', 'ROW'], lines)}\n\n${summary}`
}
