/** Metrics of a service, as a scraper reads them. */
import { expect } from 'vitest'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export class Scrape {
  readonly text: string
  readonly samples: readonly Sample[]

  constructor(text: string) {
    this.text = text
    this.samples = text
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
      .map(readSample)
  }

  static async of(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Scrape> {
    const response = await fetch(`${address}/metrics`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    return new Scrape(await response.text())
  }

  /** Returns the sum of all samples with this name and these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels)
    return this.samples
      .filter(
        sample => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
      )
      .reduce((sum, { value }) => sum + value, 0)
  }

  /** Returns the names and types of all metrics. */
  types(): ReadonlyMap<string, string> {
    return new Map([...this.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
  }
}

function readSample(line: string): Sample {
  const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  expect(name, line).toBeDefined()
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!])
  return { name: name!, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }
}
