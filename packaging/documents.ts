/**
 * Parts of documents that are generated: settings, levels of operations, metrics, the schema of model files,
 * and licenses. `npm run documents` writes them, and `documents.test.ts` verifies that they are current. To
 * add a setting or a metric, add its row in the code and run the command.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, type FormatConfig } from 'oxfmt'
import { settings } from '../src/config/settings.ts'
import { opaRoutes } from '../src/http/routes/decisions/opa.ts'
import type { Route } from '../src/http/routing/route.ts'
import { fileName } from '../src/config/secret-text.ts'
import type { SettingKind } from '../src/config/setting-kinds.ts'
import { ACCESS_LEVELS } from '../src/model/principal.ts'
import { modelFileSchema } from '../src/entities/model-file.ts'
import { THREAD_METRICS, type ThreadMetricRow, type MetricRow } from '../src/telemetry/thread-metrics.ts'
import { SCRAPE_METRICS } from '../src/telemetry/scrape-metrics.ts'
import { routes } from '../testing/requests/routes.ts'
import { noticeText } from './notice.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FORMAT = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig

interface Metric extends MetricRow {
  readonly labels: readonly string[]
}

const METRICS: readonly Metric[] = [
  ...Object.values<ThreadMetricRow>(THREAD_METRICS).map(row => ({
    ...row,
    labels: Object.keys(row.by ?? {}),
  })),
  ...SCRAPE_METRICS,
].toSorted((one, other) => (one.name < other.name ? -1 : 1))

/**
 * Topics in docs/settings.md. Each topic has a heading and the name of its first setting. Settings are in the
 * order of `settings`.
 */
const TOPIC_STARTS: readonly (readonly [heading: string, first: keyof typeof settings])[] = [
  ['Addresses', 'HOST'],
  ['Store', 'STORE_URL'],
  ['Keys', 'API_KEY'],
  ['Threads', 'HTTP_THREADS'],
  ['Sizes of requests and responses', 'MAX_BODY_BYTES'],
  ['API', 'PUBLIC_URL'],
  ['Sign-in', 'OIDC_ISSUER'],
  ['Load', 'MAX_CONNECTIONS'],
  ['Audit log and shutdown', 'AUDIT_RETENTION_DAYS'],
  ['Metrics and logs', 'METRICS'],
  ['Tracing', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
]

const SETTING_TOPICS = TOPIC_STARTS.map(([heading, first], topic) => {
  const names = Object.keys(settings)
  const next = TOPIC_STARTS[topic + 1]
  return {
    heading,
    names: names.slice(names.indexOf(first), next === undefined ? undefined : names.indexOf(next[1])),
  }
})

function settingRow(name: string): string[] {
  const { shownDefault, meaning, isSecret } = (settings as Record<string, SettingKind<unknown>>)[name]!
  return [isSecret ? `\`${name}\`, \`${fileName(name)}\`` : `\`${name}\``, shownDefault, meaning]
}

/** Names of the operations of the routes that match. */
function operationsOf(matches: (route: Route) => boolean): string {
  const all = [...routes, ...opaRoutes({} as Parameters<typeof opaRoutes>[0])]
  const names = all.filter(matches).map(({ operationId }) => `\`${operationId}\``)
  return [...new Set(names)].join(' ')
}

/** Functions that update the generated parts of documents. The key is the path of the document. */
const DOCUMENTS: Readonly<Record<string, (text: string) => string>> = {
  'docs/settings.md': text =>
    SETTING_TOPICS.reduce(
      (written, { heading, names }) =>
        withTable(written, heading, ['Variable', 'Default', 'Meaning'], names.map(settingRow)),
      text,
    ),
  'docs/api-keys.md': text => {
    const withLevels = withTable(
      text,
      'Operations of each level',
      ['Level', 'Operations'],
      [null, ...ACCESS_LEVELS].map(level => [
        level === null ? 'no key' : `\`${level}\``,
        operationsOf(route => route.level === level),
      ]),
    )
    return withTable(
      withLevels,
      'Operations of limited keys',
      ['Use', 'Operations'],
      ['read', 'write'].map(use => [`\`${use}\``, operationsOf(route => route.delegated === use)]),
    )
  },
  'docs/monitoring.md': text =>
    withTable(
      text,
      'All metrics',
      ['Metric', 'Type', 'Labels', 'Meaning'],
      METRICS.map(({ name, kind, labels, help }) => [`\`${name}\``, kind, labels.join(', '), help]),
    ),
  'docs/grafana-dashboard.json': text => JSON.stringify(withGraphs(JSON.parse(text) as Dashboard), null, 2),
  NOTICE: noticeText,
  'docs/model-file.schema.json': modelFileSchema,
}

export const DOCUMENT_PATHS = Object.keys(DOCUMENTS)

export function documentText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/**
 * Returns a document with current generated parts. `text` is the current content of the document. NOTICE is
 * not formatted.
 */
export async function documentOf(path: string, text: string): Promise<string> {
  const written = DOCUMENTS[path]!(text)
  if (path === 'NOTICE') return written
  const { code, errors } = await format(path, written, FORMAT)
  if (errors.length > 0) throw new Error(`${path} cannot be formatted: ${errors[0]!.message}`)
  return code
}

/** Replaces the rows of a table. The table is in the section with this heading and has these columns. */
function withTable(
  text: string,
  heading: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const start = text.search(new RegExp(`^##+ ${heading}$`, 'm'))
  const table = new RegExp(String.raw`^\| ${columns.join(String.raw` +\| `)} +\|\n(\|.*\n)+`, 'm')
  const section = text.slice(start)
  if (start < 0 || !table.test(section)) throw new Error(`"${heading}" has no table of ${columns.join(', ')}`)
  const lines = [columns, columns.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |\n`)
  return text.slice(0, start) + section.replace(table, () => lines.join(''))
}

interface Graph {
  readonly id: number
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

interface Dashboard {
  readonly panels: readonly Graph[]
}

const [GRAPH_WIDTH, GRAPH_HEIGHT, GRAPHS_IN_LINE] = [8, 8, 3]

/**
 * Adds a graph at the end of the dashboard for each metric that no graph shows. The new graphs can then be
 * moved and edited.
 */
function withGraphs(dashboard: Dashboard): Dashboard {
  const asked = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n')
  const missing = METRICS.filter(
    ({ name }) => !new RegExp(String.raw`\b${name}(_bucket|_sum|_count)?\b`).test(asked),
  )
  const below = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h))
  const nextId = 1 + Math.max(...dashboard.panels.map(({ id }) => id))
  const graphs = missing.map((metric, index) => ({
    id: nextId + index,
    ...graphOf(metric),
    gridPos: {
      h: GRAPH_HEIGHT,
      w: GRAPH_WIDTH,
      x: (index % GRAPHS_IN_LINE) * GRAPH_WIDTH,
      y: below + Math.floor(index / GRAPHS_IN_LINE) * GRAPH_HEIGHT,
    },
  }))
  return { ...dashboard, panels: [...dashboard.panels, ...graphs] }
}

function graphOf({ name, kind, labels, help }: Metric) {
  const by = labels.filter(label => label !== 'le')
  const words = name.replace(/^verdict_|_total$/g, '').replaceAll('_', ' ')
  const unit = { counter: 'ops', gauge: name.endsWith('_bytes') ? 'bytes' : 'short', histogram: 'short' }[
    kind
  ]
  return {
    type: 'timeseries',
    title: `${words[0]!.toUpperCase()}${words.slice(1)}`,
    description: help,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    fieldConfig: { defaults: { unit: name.endsWith('_seconds') ? 's' : unit, min: 0 }, overrides: [] },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: [
      {
        refId: 'A',
        expr: expressionOf(name, kind, by),
        legendFormat: ['instance', ...by].map(label => `{{${label}}}`).join(' '),
      },
    ],
  }
}

function expressionOf(name: string, kind: MetricRow['kind'], labels: readonly string[]): string {
  const by = ['instance', ...labels].join(', ')
  const rate = (series: string): string => `rate(${series}{instance=~"$instance"}[$__rate_interval])`
  if (kind === 'counter') return `sum by (${by}) (${rate(name)})`
  if (kind === 'histogram') return `histogram_quantile(0.99, sum by (le, ${by}) (${rate(`${name}_bucket`)}))`
  return `${name}{instance=~"$instance"}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of DOCUMENT_PATHS) {
    writeFileSync(join(ROOT, path), await documentOf(path, documentText(path)))
  }
}
