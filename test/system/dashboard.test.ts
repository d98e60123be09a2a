/** The dashboard, the alerts and the list of metrics in the documents use existing metrics. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { LIMIT_NAMES } from '#model/errors.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { documentOf } from '../../packaging/documents.ts'
import { askedIn } from '../support/documents/promql.ts'
import { question, sharedService } from '#testing/processes/running-service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')

/** Labels, and a metric, that Prometheus adds. */
const SCRAPED = ['instance', 'job']
const UP = 'up'

const metricsToken = 'token-of-the-scraper'
const issuer = {
  oidcIssuer: 'https://id.example.com',
  oidcClientId: 'verdict',
  publicUrl: 'https://a.example',
}
const verdict = await sharedService({ metricsToken, ...issuer })
await verdict.createDocumentModel()
await verdict.post('/allowed/bulk', [question('alice', 'read', 'document')])
const scrape = await Scrape.of(verdict.address, { authorization: `Bearer ${metricsToken}` })
const labelsOf = (metric: string) =>
  new Set(scrape.samples.filter(({ name }) => name === metric).flatMap(({ labels }) => Object.keys(labels)))

/** Returns the unknown metrics and labels in an expression. */
function findings(expression: string): string[] {
  const { metrics, labels } = askedIn(expression)
  const unknown = metrics.filter(
    metric => metric !== UP && !scrape.samples.some(({ name }) => name === metric),
  )
  const known = new Set([...SCRAPED, ...metrics.flatMap(metric => [...labelsOf(metric)])])
  return [...unknown, ...labels.filter(label => !known.has(label))].map(name => `${name} in ${expression}`)
}

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: object
}

const { panels } = JSON.parse(text('docs/grafana-dashboard.json')) as { panels: readonly Panel[] }
const graphs = panels.filter(({ type }) => type !== 'row')

test.each(graphs)('the graph "$title" uses existing metrics and labels', ({ targets = [] }) => {
  expect(targets.length).toBeGreaterThan(0)
  for (const { expr, legendFormat } of targets) {
    expect(findings(expr)).toEqual([])
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
    const known = new Set([...SCRAPED, ...askedIn(expr).metrics.flatMap(metric => [...labelsOf(metric)])])
    expect(shown.filter(label => !known.has(label))).toEqual([])
  }
})

test('a metric without a graph gets a graph with existing labels', async () => {
  const path = 'docs/grafana-dashboard.json'
  const dashboard = JSON.parse(text(path)) as { panels: readonly Panel[] }
  const names = ['verdict_checks_total', 'verdict_index_bytes', 'verdict_commit_duration_seconds']
  const isAsked = ({ targets = [] }: Panel) =>
    targets.some(({ expr }) => names.some(name => expr.includes(name)))
  const others = dashboard.panels.filter(panel => !isAsked(panel))
  const written = await documentOf(path, JSON.stringify({ ...dashboard, panels: others }))
  const added = (JSON.parse(written) as { panels: readonly Panel[] }).panels.slice(others.length)
  const expressions = added.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const asked = expressions.flatMap(expression =>
    askedIn(expression).metrics.map(name => name.replace(/_bucket$/, '')),
  )
  expect(asked.toSorted()).toEqual(names.toSorted())
  expect(expressions.flatMap(findings)).toEqual([])
})

test('the check finds unknown metrics and labels', () => {
  expect(findings('sum by (nothing) (rate(verdict_checks_total[1m])) / verdict_nothing')).toEqual([
    expect.stringMatching(/^verdict_nothing in/),
    expect.stringMatching(/^nothing in/),
  ])
  expect(() => findings('sum by (rate(')).toThrow('no PromQL')
})

/** Names in the first column of the table under this heading of the document, without duplicates. */
function namesIn(document: string, heading: string): string[] {
  const section = text(document).split(`\n${heading}\n`)[1]!.split('\n#')[0]!
  return [...new Set([...section.matchAll(/^\| `([a-z_-]+)` /gm)].map(([, name]) => name!))]
}

test('the dashboard and docs/monitoring.md have every metric, and docs/limits.md has every counted limit', () => {
  const shown = new Set(
    graphs.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => askedIn(expr).metrics)),
  )
  const bare = new Set([...shown].map(name => name.replace(/_(bucket|sum|count)$/, '')))
  const all = [...scrape.types().keys()]
  expect(all.filter(name => !bare.has(name) && !shown.has(name))).toEqual([])
  expect(namesIn('docs/monitoring.md', '### All metrics').toSorted()).toEqual(all.toSorted())
  expect(namesIn('docs/limits.md', '## Counted limits').toSorted()).toEqual(LIMIT_NAMES.toSorted())
})

test('every alert uses existing metrics and labels, and has a severity and a description', () => {
  const { groups } = parse(text('deploy/prometheus/alerts.yaml')) as {
    readonly groups: readonly { readonly rules: readonly Alert[] }[]
  }
  const alerts = groups.flatMap(({ rules }) => rules)
  expect(alerts.length).toBeGreaterThanOrEqual(12)
  for (const { alert, expr, labels, annotations } of alerts) {
    expect(findings(expr)).toEqual([])
    expect([alert, labels.severity]).toEqual([alert, expect.toBeOneOf(['page', 'ticket'])])
    expect(Object.keys(annotations)).toEqual(['summary', 'description'])
  }
})
