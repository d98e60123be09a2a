/** The rows that an import writes. */
import { randomUUID } from 'node:crypto'
import { ContentImport } from '#management/content/import-rows.ts'

/** Number of rows that an import of these lines writes. Adds a tenant, which ends the definitions. */
export function importedRows(lines: readonly object[]): number {
  const it = new ContentImport({
    check: () => {},
    isKind: (kind): kind is 'condition_set' | 'proxy_config' => typeof kind === 'string',
    now: 0,
    newId: randomUUID,
    attributesBytesMax: 65_536,
    heldBytesMax: Number.POSITIVE_INFINITY,
  })
  const all = [{ kind: 'environment', format: 1 }, ...lines, { kind: 'tenant', key: 'default', name: 'D' }]
  return all
    .map((line, index) => it.take({ number: index + 1, text: JSON.stringify(line) }).length)
    .reduce((sum, rows) => sum + rows)
}
