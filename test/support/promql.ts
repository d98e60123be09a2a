/** What a PromQL expression asks for: the metrics it names, and the labels it names of each. */
import { parser } from '@prometheus-io/lezer-promql'

export interface Asked {
  readonly metrics: readonly string[]
  /** Labels that select or group, whichever metric they are of. */
  readonly labels: readonly string[]
}

/** Throws when the expression is none. */
export function askedIn(expression: string): Asked {
  // What Grafana puts in place of its variables.
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
