/** Attributes in the index are read back unchanged and take about half the size of their JSON text. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NAMES_MAX } from '#engine/shared-index/memory/attribute-names.ts'
import { LINE_WORDS } from '#engine/shared-index/memory/layout.ts'
import {
  attributesBlock,
  attributesText,
  newRecord,
  setAttributes,
} from '#engine/shared-index/memory/records.ts'
import { isRow } from '#engine/shared-index/memory/attribute-rows.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { Attributes } from '#model/change.ts'
import { roots, USUAL } from '#testing/oracle/random-attributes.ts'
import { holdsFor } from '../../../properties/seeded.ts'

function owner() {
  const regions = Regions.create({ start: 3, multiplier: 5 })
  const key = new Key(3, 5)
  key.read('k', 1)
  return { regions, line: newRecord(regions, key, 1, 0) }
}

test('any JSON is read back unchanged, including in other threads', () => {
  const { regions, line } = owner()
  const reader = Regions.attach(regions.handle)
  const plain: Attributes[] = [
    {},
    {
      a: null,
      b: true,
      c: false,
      d: 'text',
      e: '',
      f: 'é😀',
      g: 0,
      h: -32_768,
      i: 32_768,
      j: 2 ** 53,
      k: 0.1,
    },
    { list: [1, 'a', null, true, 'longer than one word', -5], none: [], mixed: [0.5], deep: [{ a: [] }] },
    { '': 1, 'a.b': 2, __proto__x: 3, ['x'.repeat(300)]: 4 },
    JSON.parse('{"__proto__":{"a":1},"half":"\\ud83d","\\ud83d":1}') as Attributes,
    { long: 'x'.repeat(70_000), text: 'y'.repeat(40) },
    { é: 'ü', '😀': '\ufeffa' },
  ]
  const check = (attributes: Attributes): void => {
    setAttributes(regions, line, attributes)
    reader.refresh()
    for (const each of [regions, reader]) expect(attributesText(each, line)).toBe(JSON.stringify(attributes))
  }
  for (const attributes of plain) check(attributes)
  holdsFor(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 6 }), 300, check)
  holdsFor(roots(USUAL), 300, ({ user, resource, tenant }) => [user, resource, tenant].forEach(check))
})

test('attributes are read back unchanged if there are more names than the index can number', () => {
  const { regions, line } = owner()
  for (let from = 0; from < NAMES_MAX; from += 64) {
    const names = Array.from({ length: 64 }, (_, n) => [`name-${from + n}`, n])
    setAttributes(regions, line, Object.fromEntries(names) as Attributes)
  }
  const isInRow = (): boolean => isRow(regions.graph[attributesBlock(regions.graph, line)]!)
  setAttributes(regions, line, { 'name-17': 'a', [`name-${NAMES_MAX - 1}`]: 'b' })
  expect([attributesText(regions, line), isInRow()]).toEqual([
    `{"name-17":"a","name-${NAMES_MAX - 1}":"b"}`,
    true,
  ])
  setAttributes(regions, line, { 'name-17': 'a', another: 'b' })
  expect([attributesText(regions, line), isInRow()]).toEqual(['{"name-17":"a","another":"b"}', false])
  const reader = Regions.attach(regions.handle)
  expect(attributesText(reader, line)).toBe('{"name-17":"a","another":"b"}')
})

test('five typical attributes fit into one cache line', () => {
  const { regions, line } = owner()
  const attributes = { department: 'sales', level: 3, region: 'eu-west', suspended: false, clearance: 2 }
  setAttributes(regions, line, attributes)
  const { header } = regions
  const taken = header[48]! - header[49]!
  setAttributes(regions, line, null)
  expect(taken - (header[48]! - header[49]!)).toBe(LINE_WORDS)
})
