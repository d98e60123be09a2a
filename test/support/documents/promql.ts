/** Metrics and labels that a PromQL expression uses. */
import { parser } from '@prometheus-io/lezer-promql'

export interface Asked {
  readonly metrics: readonly string[]
  /** Labels of all metrics, in selectors and groupings. */
  readonly labels: readonly string[]
}

/** Throws if the expression is invalid. */
export function askedIn(expression: string): Asked {
  // Grafana replaces this variable.
  const text = expression.replaceAll('$__rate_interval', '1m')
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(text).iterate({
    enter: ({ type, name, from, to }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${text}`)
      if (name === 'Identifier') metrics.push(text.slice(from, to))
      if (name === 'LabelName') labels.push(text.slice(from, to))
    },
  })
  return { metrics, labels }
}
